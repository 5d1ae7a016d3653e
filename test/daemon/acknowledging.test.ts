/** What is acknowledged, and when: never past something that no session has, and nothing that was received stays behind. */
import { expect } from 'chai';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { until } from '../support/until.ts';
import { inLanes } from './support/played.ts';
import { proxied } from './support/proxied.ts';
import { type Rig, took } from './support/rig.ts';

describe('the cursor of a seat', () => {
  const on = proxied();

  type Identity = Awaited<ReturnType<Rig['seat']>>['seat'];
  const read = (seat: Identity, count: number) => on.rig.hasRead(seat, count);

  /** Another client of the agent has read so far. */
  const acked = async (seat: Identity, upTo: number) => {
    const token = on.rig.machine.credentials.token(seat.origin, seat.member_id)!;
    const answer = await fetch(`${on.server.url}/v1/me/inbox/ack`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ up_to: upTo }),
    });
    expect(answer.status).to.equal(200);
  };

  it('does not leap over what lies between a full read and an urgent message far behind it', async () => {
    const { seat, board } = await on.rig.seat();
    const other = await newAgent(on.server.dana, board);
    const session = await on.rig.session(seat);
    const posts = Array.from({ length: 1_040 }, (_, n) => `quiet ${n}.`);
    await inLanes(posts, 30, async (body) => void (await post(other, board, body)));
    const urgent = await post(other, board, 'look at this', { urgent: true });
    await read(seat, 1_001);
    const first = urgent.seq - 1_040;
    const given = (states: string) =>
      new Set(
        on.rig
          .rows<{ seq: number }>(
            `SELECT m.seq FROM part_messages AS m JOIN handoffs AS h ON h.id = m.handoff_id WHERE h.state IN (${states})`,
          )
          .map(({ seq }) => seq),
      );
    // Turn after turn, until everything was in the session by its text or by its number.
    for (let turn = 0; turn < 60; turn++) {
      const cursor = await on.rig.cursor(seat);
      const had = given(`'confirmed', 'done'`);
      for (let seq = first; seq <= cursor; seq++) expect(had.has(seq), `#${seq} was received`).to.equal(true);
      if (cursor >= urgent.seq) break;
      await session.hook('turn_start');
      await session.hook('boundary');
    }
    await on.rig.acked(seat, urgent.seq);
  });

  it('goes on past a full read by itself: what it did not bring is read when all that it brought is over', async () => {
    const { seat, board } = await on.rig.seat();
    const other = await newAgent(on.server.dana, board);
    await on.server.dana.ok('setDeliveryMode', { params: { board, member: seat.name }, body: { mode: 'all' } });
    await inLanes(
      Array.from({ length: 1_005 }, (_, n) => `post ${n}.`),
      30,
      async (body) => void (await post(other, board, body)),
    );
    await on.rig.session(seat);
    await read(seat, 1_000);
    // What follows them wakes the agent, and was looked for besides.
    const last = on.rig.read(seat)!.messages[999]!;
    expect(on.rig.read(seat)!.more).to.equal(true);
    await acked(seat, last.seq);
    // No head moves, and nobody asks.
    await until(() => on.rig.read(seat)!.messages.length === 5, 'the rest was read');
    expect(on.rig.read(seat)!.more).to.equal(false);
  });

  it('that another client moved past a text on its way leaves nothing half done once that is confirmed', async () => {
    const { seat, board } = await on.rig.seat();
    const session = await on.rig.session(seat);
    const hook = await session.wait();
    const { seq } = await on.rig.say(board, 'hello');
    await took(hook, await hook.next());
    await acked(seat, seq);
    await until(() => on.rig.row(seat).cursor >= seq, 'the cursor is known');
    // Whoever pairs sessions is told of all that this one received, acknowledged or not.
    const received: number[] = [];
    on.rig.events.on('received', ({ messages }) => received.push(...messages.map((one) => one.seq)));
    await session.hook('boundary');
    expect(received).to.deep.equal([seq]);
    expect(on.rig.states()).to.deep.equal(['done']);
    expect(on.rig.rows('SELECT * FROM received')).to.deep.equal([]);
  });

  it('moves for a seat that its session gave up before its receipt could be told', async () => {
    const board = await newBoard(on.server.dana);
    const { seat } = await on.rig.seat(board);
    const { seat: next } = await on.rig.seat(board);
    const session = await on.rig.session(seat);
    const { seq } = await on.rig.say(board.name, 'hello');
    await session.hook('turn_start');
    const own = on.rig.machine.credentials.token(seat.origin, seat.member_id);
    on.proxy.fail(({ path, token }) => path === '/v1/me/inbox/ack' && token === own, { status: 503, retryAfter: 1 });
    await session.hook('boundary');
    await until(() => on.rig.states()[0] === 'confirmed', 'it is confirmed');
    expect((await session.bind(next))['previous']).to.include({ member_id: seat.member_id });
    on.proxy.heal();
    await until(async () => {
      on.clock.pass(5_000);
      return (await on.rig.cursor(seat)) >= seq;
    }, 'it is acknowledged with its own token');
    expect(on.rig.rows('SELECT * FROM received')).to.deep.equal([]);
    // Nothing of it is followed any more.
    await until(() => on.rig.servers.views()[0]!.feed === 'stream', 'the other one is');
    const asked = on.proxy.seen.filter(({ token }) => token === own).length;
    const { seq: later } = await on.rig.say(board.name, 'for the other one');
    await on.rig.seen(next, later);
    expect(on.proxy.seen.filter(({ token }) => token === own)).to.have.length(asked);
  });

  it('moves after a restart for a seat that no session holds any more', async () => {
    const { seat, board } = await on.rig.seat();
    const session = await on.rig.session(seat);
    const { seq } = await on.rig.say(board, 'hello');
    await session.hook('turn_start');
    on.proxy.fail('POST /v1/me/inbox/ack', { status: 503, retryAfter: 1 });
    await session.hook('boundary');
    await until(() => on.rig.states()[0] === 'confirmed', 'it is confirmed');
    await session.ask('unbind', { agent: { server: seat.origin, board, name: seat.name } });
    await on.rig.daemon.stop(false);
    on.proxy.heal();
    await on.rig.start({ clock: on.clock });
    await on.rig.acked(seat, seq);
    await until(() => on.rig.states()[0] === 'done', 'it is done');
  });

  it('is asked for by no handoff whose seats were all taken away while it was on its way', async () => {
    const { seat, board } = await on.rig.seat();
    const session = await on.rig.session(seat);
    const hook = await session.wait();
    const { seq } = await on.rig.say(board, 'hello');
    const carry = await hook.next();
    const other = await on.rig.session(seat);
    await hook.end();
    await until(() => on.rig.states()[0] === 'ended', `it is over, and not to be given again: ${on.rig.states()}`);
    const start = await other.hook('turn_start');
    expect(start['bundle']).to.contain('hello');
    expect(start['handoff_id']).to.not.equal(carry['handoff_id']);
    await other.hook('boundary');
    await on.rig.acked(seat, seq);
    await until(() => on.rig.states()[1] === 'done', 'it is done');
    expect(on.rig.states()).to.deep.equal(['ended', 'done']);
  });
});
