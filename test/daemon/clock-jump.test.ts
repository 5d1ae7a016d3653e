/** A machine whose clock is set while the daemon works: nothing is early, late, lost or given twice because of it. */
import { expect } from 'chai';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { Rig, took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

/** Runs as it does; the time of day is set by the test. */
class SetClock extends StepClock {
  aheadMs = 0;
  override now = (): number => Date.now() + this.aheadMs;
}

const DAY = 86_400_000;

describe('clock jump: all waiting uses monotonic time', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let rig: Rig;
  let clock: SetClock;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    clock = new SetClock();
    proxy = await new FaultProxy(server.url).listen();
    rig = new Rig(server);
    rig.origin = proxy.url;
    await rig.start({ clock });
  });
  afterEach(async () => {
    proxy.heal();
    await rig.stop();
    await proxy.down();
  });

  for (const [way, ms] of [
    ['forward', 400 * DAY],
    ['back', -400 * DAY],
  ] as const) {
    it(`${way}, at every step from the post to the acknowledgement`, async () => {
      const { seat, board } = await rig.seat();
      const session = await rig.session(seat);
      const jump = () => {
        clock.aheadMs += ms;
      };
      const hook = await session.wait();
      jump();
      const { seq } = await rig.say(board, 'hello');
      const carry = await hook.next();
      jump();
      await took(hook, carry);
      jump();
      await session.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
      jump();
      proxy.fail('POST /v1/me/inbox/ack', { status: 503, retryAfter: 1 }, 1);
      await session.hook('boundary');
      jump();
      await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
      const asked = proxy.count('POST /v1/me/inbox/ack');
      jump();
      expect(proxy.count('POST /v1/me/inbox/ack')).to.equal(asked);
      clock.pass(1_000);
      await rig.acked(seat, seq);
      await until(() => rig.states()[0] === 'done', 'it is done');
      expect(rig.states()).to.deep.equal(['done']);
      // Nothing ended or ran out by it: the session is open, its hook is heard, and the daemon goes on.
      const again = await session.wait();
      jump();
      clock.pass(5_000);
      expect((await rig.ask('status'))['open_sessions']).to.equal(1);
      await rig.say(board, 'and on it goes');
      expect((await again.next())['bundle']).to.contain('and on it goes');
    });

    it(`${way}, while something is tried again: the pause is as long as it was`, async () => {
      const adapter = fakeAdapter(['queue'], { hand: async () => ({ retry: 'gone' }) });
      await rig.restart({ clock, adapter });
      const { seat, board } = await rig.seat();
      await rig.session(seat);
      await rig.say(board, 'hello');
      await until(() => rig.states()[0] === 'retry', 'the first attempt failed');
      const attempts = () => rig.rows<{ attempts: number }>('SELECT attempts FROM handoffs')[0]!.attempts;
      expect(attempts()).to.equal(1);
      clock.aheadMs += ms;
      clock.pass(100);
      expect(attempts()).to.equal(1);
      clock.pass(1_300);
      await until(() => attempts() === 2, 'it was tried again');
    });

    it(`${way}, between two lives of the daemon: what was received is acknowledged, what was not comes again`, async () => {
      const { seat, board } = await rig.seat();
      const session = await rig.session(seat);
      await rig.say(board, 'received');
      await session.hook('turn_start');
      proxy.fail('POST /v1/me/inbox/ack', { status: 503, retryAfter: 1 });
      await session.hook('boundary');
      await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
      const { seq } = await rig.say(board, 'not yet');
      await until(() => rig.daemon.core.seats.of(seat)!.seenSeq >= seq, 'it was seen');
      clock.aheadMs += ms;
      proxy.heal();
      await rig.restart({ clock });
      const start = await session.hook('turn_start');
      expect(start['bundle']).to.contain('not yet').and.not.contain('received');
      await session.hook('boundary');
      await rig.acked(seat, seq);
      clock.pass(3_600_000);
      expect(await session.hook('turn_start')).to.not.have.property('bundle');
    });
  }
});
