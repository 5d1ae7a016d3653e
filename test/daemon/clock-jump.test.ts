/** A machine whose clock is set while the daemon works: nothing is early, late, lost or given twice because of it. */
import { expect } from 'chai';
import { realClock } from '../../src/daemon/clock.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { proxied } from './support/proxied.ts';
import { took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

/** Runs as it does; the time of day is set by the test. */
class SetClock extends StepClock {
  aheadMs = 0;
  override now = (): number => Date.now() + this.aheadMs;
}

const DAY = 86_400_000;

describe('clock jump: all waiting uses monotonic time', () => {
  const on = proxied(() => new SetClock());

  for (const [way, ms] of [
    ['forward', 400 * DAY],
    ['back', -400 * DAY],
  ] as const) {
    it(`${way}, at every step from the post to the acknowledgement`, async () => {
      const { seat, board } = await on.rig.seat();
      const session = await on.rig.session(seat);
      const jump = () => {
        on.clock.aheadMs += ms;
      };
      const hook = await session.wait();
      jump();
      const { seq } = await on.rig.say(board, 'hello');
      const carry = await hook.next();
      jump();
      await took(hook, carry);
      jump();
      await session.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
      jump();
      on.proxy.fail('POST /v1/me/inbox/ack', { status: 503, retryAfter: 1 }, 1);
      await session.hook('boundary');
      jump();
      await until(() => on.rig.states()[0] === 'confirmed', 'it is confirmed');
      const asked = on.proxy.count('POST /v1/me/inbox/ack');
      jump();
      expect(on.proxy.count('POST /v1/me/inbox/ack')).to.equal(asked);
      on.clock.pass(1_000);
      await on.rig.acked(seat, seq);
      await until(() => on.rig.states()[0] === 'done', 'it is done');
      expect(on.rig.states()).to.deep.equal(['done']);
      // Nothing ended or ran out by it: the session is open, its hook is heard, and the daemon goes on.
      const again = await session.wait();
      jump();
      on.clock.pass(5_000);
      expect((await on.rig.ask('status'))['open_sessions']).to.equal(1);
      await on.rig.say(board, 'and on it goes');
      expect((await again.next())['bundle']).to.contain('and on it goes');
    });

    it(`${way}, while something is tried again: the pause is as long as it was`, async () => {
      const adapter = fakeAdapter(['queue'], { hand: async () => ({ retry: 'gone' }) });
      await on.rig.restart({ clock: on.clock, adapter });
      const { seat, board } = await on.rig.seat();
      await on.rig.session(seat);
      await on.rig.say(board, 'hello');
      await until(() => on.rig.states()[0] === 'retry', 'the first attempt failed');
      const attempts = () => on.rig.rows<{ attempts: number }>('SELECT attempts FROM handoffs')[0]!.attempts;
      expect(attempts()).to.equal(1);
      on.clock.aheadMs += ms;
      on.clock.pass(100);
      expect(attempts()).to.equal(1);
      on.clock.pass(1_300);
      await until(() => attempts() === 2, 'it was tried again');
    });

    it(`${way}, between two lives of the daemon: what was received is acknowledged, what was not comes again`, async () => {
      const { seat, board } = await on.rig.seat();
      const session = await on.rig.session(seat);
      await on.rig.say(board, 'received');
      await session.hook('turn_start');
      on.proxy.fail('POST /v1/me/inbox/ack', { status: 503, retryAfter: 1 });
      await session.hook('boundary');
      await until(() => on.rig.states()[0] === 'confirmed', 'it is confirmed');
      const { seq } = await on.rig.say(board, 'not yet');
      await on.rig.seen(seat, seq);
      on.clock.aheadMs += ms;
      on.proxy.heal();
      await on.rig.restart({ clock: on.clock });
      const start = await session.hook('turn_start');
      expect(start['bundle']).to.contain('not yet').and.not.contain('received');
      await session.hook('boundary');
      await on.rig.acked(seat, seq);
      on.clock.pass(3_600_000);
      expect(await session.hook('turn_start')).to.not.have.property('bundle');
    });
  }
});

describe("the daemon's clock", () => {
  it('does not take a delay that is too long for a timer for none', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const cancel = realClock.after(30 * DAY, () => resolve('30 days'));
    realClock.after(20, () => resolve('20 milliseconds'));
    expect(await promise).to.equal('20 milliseconds');
    cancel();
  });
});
