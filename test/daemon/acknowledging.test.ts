/** What is acknowledged, and when: never past something that no session has, and nothing that was received stays behind. */
import { expect } from 'chai';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Rig, took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

describe('the cursor of a seat', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let rig: Rig;
  let clock: StepClock;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    clock = new StepClock();
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

  type Identity = Awaited<ReturnType<Rig['seat']>>['seat'];
  const seatOf = (seat: Identity) => rig.daemon.core.seats.of(seat)!;
  const read = (seat: Identity, count: number) =>
    until(() => (seatOf(seat).latest?.inbox.messages.length ?? 0) >= count, `${count} messages were read`, 15_000);

  it('does not leap over what lies between a full read and an urgent message far behind it', async function () {
    this.timeout(60_000);
    const { seat, board } = await rig.seat();
    const other = await newAgent(server.dana, board);
    const session = await rig.session(seat);
    await Promise.all(Array.from({ length: 1_040 }, (_, n) => post(other, board, `quiet ${n}.`)));
    const urgent = await post(other, board, 'look at this', { urgent: true });
    await read(seat, 1_001);
    const first = urgent.seq - 1_040;
    const given = (states: string) =>
      new Set(
        rig
          .rows<{ seq: number }>(
            `SELECT m.seq FROM part_messages AS m JOIN handoffs AS h ON h.id = m.handoff_id WHERE h.state IN (${states})`,
          )
          .map(({ seq }) => seq),
      );
    // Turn after turn, until everything was in the session by its text or by its number.
    for (let turn = 0; turn < 60; turn++) {
      const cursor = await rig.cursor(seat);
      const had = given(`'confirmed', 'done'`);
      for (let seq = first; seq <= cursor; seq++) expect(had.has(seq), `#${seq} was received`).to.equal(true);
      if (cursor >= urgent.seq) break;
      await session.hook('turn_start');
      await session.hook('boundary');
    }
    await rig.acked(seat, urgent.seq);
  });

  it('that another client moved past a text on its way leaves nothing half done once that is confirmed', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'hello');
    await took(hook, await hook.next());
    const token = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    const answer = await fetch(`${server.url}/v1/me/inbox/ack`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ up_to: seq }),
    });
    expect(answer.status).to.equal(200);
    await until(() => seatOf(seat).row.cursor >= seq, 'the cursor is known');
    await session.hook('boundary');
    expect(rig.states()).to.deep.equal(['done']);
    expect(rig.rows('SELECT * FROM received')).to.deep.equal([]);
    expect(seatOf(seat).received.size).to.equal(0);
  });

  it('moves for a seat that its session gave up before its receipt could be told', async () => {
    const board = await newBoard(server.dana);
    const { seat } = await rig.seat(board);
    const { seat: next } = await rig.seat(board);
    const session = await rig.session(seat);
    const { seq } = await rig.say(board.name, 'hello');
    await session.hook('turn_start');
    const own = rig.machine.credentials.token(seat.origin, seat.member_id);
    proxy.fail(({ path, token }) => path === '/v1/me/inbox/ack' && token === own, { status: 503, retryAfter: 1 });
    await session.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    expect((await session.bind(next))['previous']).to.include({ member_id: seat.member_id });
    proxy.heal();
    await until(async () => {
      clock.pass(5_000);
      return (await rig.cursor(seat)) >= seq;
    }, 'it is acknowledged with its own token');
    expect(rig.rows('SELECT * FROM received')).to.deep.equal([]);
    // Nothing of it is followed any more.
    await until(() => rig.daemon.core.origins.views()[0]!.feed === 'stream', 'the other one is');
    const asked = proxy.seen.filter(({ token }) => token === own).length;
    const { seq: later } = await rig.say(board.name, 'for the other one');
    await until(() => seatOf(next).seenSeq >= later, 'the other one was read');
    expect(proxy.seen.filter(({ token }) => token === own)).to.have.length(asked);
  });

  it('moves after a restart for a seat that no session holds any more', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    await session.hook('turn_start');
    proxy.fail('POST /v1/me/inbox/ack', { status: 503, retryAfter: 1 });
    await session.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    await session.ask('unbind', { agent: { server: seat.origin, board, name: seat.name } });
    await rig.daemon.stop(false);
    proxy.heal();
    await rig.start({ clock });
    await rig.acked(seat, seq);
    await until(() => rig.states()[0] === 'done', 'it is done');
  });

  it('is asked for by no handoff whose seats were all taken away while it was on its way', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'hello');
    const carry = await hook.next();
    const other = await rig.session(seat);
    await hook.end();
    await until(() => rig.states()[0] === 'ended', `it is over, and not to be given again: ${rig.states()}`);
    const start = await other.hook('turn_start');
    expect(start['bundle']).to.contain('hello');
    expect(start['handoff_id']).to.not.equal(carry['handoff_id']);
    await other.hook('boundary');
    await rig.acked(seat, seq);
    expect(rig.states()).to.deep.equal(['ended', 'done']);
  });
});
