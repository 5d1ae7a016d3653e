/** Commands that read for themselves, beside the daemon. */
import { expect } from 'chai';
import { type Connection, openConnection } from '../../src/daemon/control/connection.ts';
import { Hold } from '../../src/daemon/control/hold.ts';
import type { PortDeps } from '../../src/daemon/ports.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { errorOf } from './support/error-of.ts';
import { fakeAdapter } from './support/parts.ts';
import { type Rig, took } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

describe('reading beside the daemon', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  withRig((made) => {
    ({ server, rig, clock } = made);
  });

  type Seat = Awaited<ReturnType<Rig['seat']>>['seat'];
  const ref = ({ origin, board, name, member_id }: Seat) => ({ server: origin, board, name, member_id });
  const seen = (seat: Seat, seq: number) => rig.seen(seat, seq);

  it('of an inbox keeps the daemon from handing until it is over', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const reader = await rig.open('inbox', { agent: ref(seat) });
    expect(await reader.next()).to.include({ held: true, generation: 1 });
    const { seq } = await rig.say(board, 'hello');
    await seen(seat, seq);
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    await reader.end();
    expect((await hook.next())['bundle']).to.contain('hello');
  });

  it('of an inbox is dropped after eleven minutes', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const reader = await rig.open('inbox', { agent: ref(seat) });
    await reader.next();
    const { seq } = await rig.say(board, 'hello');
    await seen(seat, seq);
    clock.pass(660_000);
    await until(() => reader.closed, 'it was dropped');
    expect((await hook.next())['bundle']).to.contain('hello');
  });

  it('of an inbox goes on for as long as a command waits, also with a daemon that starts meanwhile', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const connect = () => openConnection(rig.paths.socket);
    const hold = new Hold({ connect, frame: { op: 'inbox', agent: ref(seat), peek: true }, after: clock.after });
    expect(await hold.take()).to.include({ held: true });
    const held = () => hold.ask({ op: 'inbox', agent: ref(seat), peek: true });
    for (let n = 0; n < 3; n++) {
      clock.pass(600_000);
      await held();
    }
    let hook = await session.wait();
    const { seq } = await rig.say(board, 'hello');
    await seen(seat, seq);
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    let seats: PortDeps['seats'] | undefined;
    const ports = (connecting: PortDeps) => {
      ({ seats } = connecting);
      return {};
    };
    await rig.restart({ clock, ports });
    await until(() => {
      clock.pass(1_000);
      return seats?.of(seat)?.isReadByCommand === true;
    }, 'it is held again');
    hook = await session.wait({ resumed: true });
    await seen(seat, seq);
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    hold.end();
    expect((await hook.next())['bundle']).to.contain('hello');
  });

  it('of an inbox that the daemon refuses keeps no connections open', async () => {
    const open: Connection[] = [];
    const connect = async () => {
      open.push(await openConnection(rig.paths.socket));
      return open.at(-1)!;
    };
    const agent = { server: rig.origin, board: 'none', name: 'nobody' };
    const hold = new Hold({ connect, frame: { op: 'inbox', agent, peek: true }, after: clock.after });
    expect(await hold.take()).to.equal(null);
    await until(() => {
      clock.pass(1_000);
      return open.length > 2;
    }, 'it is tried again');
    hold.end();
    await until(() => open.every(({ isClosed }) => isClosed), 'all are closed');
  });

  it('of the session’s own inbox shows that it goes on, and what it has received already', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const other = await newAgent(server.dana, board);
    // A first one that stays unread keeps the cursor where it is.
    await server.dana.ok('setDeliveryMode', { params: { board, member: seat.name }, body: { mode: 'all' } });
    await until(() => rig.row(seat).mode === 'all', 'the mode is known');
    const { seq } = await post(other, board, 'hello');
    const hook = await session.wait();
    await took(hook, await hook.next());
    const peek = await session.open('inbox', { agent: ref(seat), peek: true });
    await peek.next();
    expect(rig.states()).to.deep.equal(['handed']);
    await peek.end();
    const reader = await session.open('inbox', { agent: ref(seat), started: clock.nowUs() });
    expect(await reader.next()).to.include({ held: true, boot: session.header['boot'] });
    await rig.acked(seat, seq);
  });

  it('is told what is on its way to the session too, which nothing confirms yet', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    const hook = await session.wait();
    const wake = await hook.next();
    await took(hook, wake);
    await hook.end();
    const reader = await rig.open('inbox', { agent: ref(seat), peek: true });
    expect(await reader.next()).to.deep.include({ held: true, handed: [seq] });
    await reader.end();
    await session.hook('turn_start', { wake: true, handoff_id: wake['handoff_id'] });
    await session.hook('boundary');
    await rig.acked(seat, seq);
    expect(await (await rig.open('inbox', { agent: ref(seat), peek: true })).next()).to.not.have.any.keys(
      'handed',
      'received',
    );
  });

  it('of a compacted session counts in its note only what it does not have', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const other = await newAgent(server.dana, board);
    const hook = await session.wait();
    await rig.say(board, 'hello');
    await took(hook, await hook.next());
    const compacted = () => session.ask('register', { source: 'compact' });
    expect((await compacted())['note']).to.not.include('unread');
    const { seq } = await post(other, board, 'later');
    await seen(seat, seq);
    clock.pass(2_000);
    expect((await compacted())['note']).to.include('1 unread: service inbox.');
  });

  it('of a reply keeps it out of bundles, and what was claimed is received', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const token = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    const question = (await (
      await fetch(`${server.url}/v1/boards/${board}/messages`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'q1' },
        body: JSON.stringify({ body: 'which one?' }),
      })
    ).json()) as { id: string; seq: number };
    const asker = await session.open('hold', { agent: ref(seat), reply_to: question.id, started: clock.nowUs() });
    expect(await asker.next()).to.include({ held: true });
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'the second', { reply_to: question.id });
    await seen(seat, seq);
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    expect(await asker.send({ op: 'claim', seqs: [seq, seq + 40] }).next()).to.deep.include({ claimed: [seq] });
    await rig.acked(seat, seq);
    await asker.end();
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    expect(rig.states()).to.deep.equal([]);
  });

  it('of a reply is received too where the session of its seat has ended', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.ask('end');
    const asker = await rig.open('hold', { agent: ref(seat), reply_to: 1 });
    await asker.next();
    const { seq } = await rig.say(board, 'a reply');
    expect(await asker.send({ op: 'claim', seqs: [seq] }).next()).to.deep.include({ claimed: [seq] });
    await rig.acked(seat, seq);
  });

  it('in full suppresses later hands in this boot, and acknowledges nothing', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { id, seq } = await rig.say(board, 'read by hand');
    await seen(seat, seq);
    const row = rig.row(seat);
    const message = { board_id: row.board_id, member_id: seat.member_id, message_id: id, seq };
    const shown = (generation: number, messages: object[]) =>
      session.ask('shown', { generation, agent: ref(seat), messages });
    expect(await shown(row.generation + 1, [message])).to.not.include({ shown: true });
    const foreign = { ...message, member_id: 'mem_01M7ZNGWKZMFQ204KWRHRZQBZ3' };
    expect(await shown(row.generation, [message, foreign])).to.not.include({ shown: true });
    expect(await shown(row.generation, [message])).to.include({ shown: true });
    await session.hook('turn_end');
    const hook = await session.wait();
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    expect(await rig.cursor(seat)).to.be.below(seq);
    // A new boot has not read it.
    session.header = { ...session.header, boot: 'dddddddddddddddd' };
    await session.ask('register', { source: 'clear' });
    const next = await session.wait();
    expect((await next.next())['bundle']).to.contain('read by hand');
  });

  it('in full is acknowledged with a later message that the session received', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { id, seq } = await rig.say(board, 'read by hand');
    await seen(seat, seq);
    const { generation, board_id } = rig.row(seat);
    const messages = [{ board_id, member_id: seat.member_id, message_id: id, seq }];
    expect(await session.ask('shown', { generation, agent: ref(seat), messages })).to.include({ shown: true });
    await session.hook('turn_end');
    const hook = await session.wait();
    const later = await rig.say(board, 'what comes next');
    const deliver = await hook.next();
    expect(deliver['bundle']).to.contain('what comes next').and.not.contain('read by hand');
    await took(hook, deliver);
    await session.hook('turn_start', { wake: true, handoff_id: deliver['handoff_id'] });
    await session.hook('turn_end');
    await rig.acked(seat, later.seq);
  });

  it('of the queue names what a program keeps until its turn is over', async () => {
    const adapter = fakeAdapter(['queue', 'turn-start', 'tool-boundary'], { hand: async () => 'accepted' });
    await rig.restart({ clock, adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { id, seq } = await rig.say(board, 'queued');
    await until(() => rig.states()[0] === 'handed', 'it is in the queue');
    const stranger = await rig.ask('queued', { ...session.header, boot: 'cccccccccccccccc' });
    expect(errorOf(stranger)).to.equal('queue_unknown');
    const { queued } = await session.ask('queued');
    const { board_id } = rig.row(seat);
    expect(queued).to.deep.equal([
      { server: seat.origin, board_id, member_id: seat.member_id, board, message_id: id, seq, boundary: 'turn_end' },
    ]);
    const elsewhere = await session.ask('queued', { server: 'http://127.0.0.1:1' });
    expect(elsewhere['queued'] ?? []).to.deep.equal([]);
    expect(await rig.cursor(seat)).to.be.below(seq);
    await session.hook('turn_start');
    await rig.acked(seat, seq);
    expect((await session.ask('queued'))['queued'] ?? []).to.deep.equal([]);
  });

  it('of another client is known, and nothing is handed that was acknowledged there', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'read elsewhere');
    await seen(seat, seq);
    const token = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    await fetch(`${server.url}/v1/me/inbox/ack`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ up_to: seq }),
    });
    await until(() => rig.row(seat).cursor >= seq, 'the cursor is known');
    const hook = await session.wait();
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
    expect(await session.hook('turn_start')).to.not.have.property('bundle');
    expect((await session.ask('agents'))['seats']).to.deep.include.members([
      { ...ref(seat), board_id: seat.board_id, mode: 'focused', unread: 0, generation: 1 },
    ]);
  });

  it('of a mode applies what a command was answered, unless a newer one is known', async () => {
    const { seat } = await rig.seat(await newBoard(server.dana));
    await rig.session(seat);
    const agent = ref(seat);
    expect(await rig.ask('mode', { agent, mode: 'humans', revision: 3 })).to.include({
      mode: 'humans',
      revision: 3,
      changed: true,
    });
    expect(await rig.ask('mode', { agent, mode: 'all', revision: 2 })).to.include({ mode: 'humans', revision: 3 });
    expect(await rig.ask('mode', { agent })).to.include({ mode: 'humans', revision: 3 });
  });

  it('notes who waits for an approval', async () => {
    const { seat } = await rig.seat();
    const session = await rig.session(seat);
    const approval_id = 'apr_01M7ZNGWKZMFQ204KWRHRZQBZ3';
    await session.ask('approval_watch', { agent: ref(seat), approval_id });
    const { journal } = rig;
    const watch = {
      origin: seat.origin,
      member_id: seat.member_id,
      approval_id,
      session_key: session.key,
      boot: session.header['boot'],
    };
    expect(journal.approvalWatches()).to.deep.equal([watch]);
    journal.endApprovalWatch(journal.approvalWatches()[0]!);
    expect(journal.approvalWatches()).to.deep.equal([]);
  });
});
