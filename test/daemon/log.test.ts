/** The daemon's log: which lines what happens writes, with which ids, and that nothing anybody wrote ever stands in it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { JournalError } from '../../src/daemon/journal/journal.ts';
import type { SeatRef } from '../../src/daemon/refs.ts';
import { serverPorts } from '../../src/daemon/server-ports.ts';
import { Api } from '../support/api.ts';
import { post } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { type LogLine, Rig, type RigOptions, took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

/** Every line there is, as the contract names them. */
const events =
  `daemon_started, daemon_stopping, upgrade_replaced, server_connected, server_lost, server_identity_changed,
  session_started, session_closed, session_resumed, bound, moved, seat_ended, handoff_prepared, handoff_handed,
  handoff_accepted, handoff_confirmed, handoff_pending, handoff_retry, handoff_attention, handoff_stalled,
  wake_echo_missing, acked, ack_failed, boundary, notice, nudge, mode_changed, notice_told, presence_failed,
  delegation_made, delegation_ended, join, create_board, pairing_selected, pairing_ping, pairing_verified, hook_error,
  journal_error, slow_op`.split(/,\s+/);
/** Those that other tests look for, where what they are about is played. */
const elsewhere = ['upgrade_replaced', 'notice_told', 'pairing_selected', 'pairing_ping', 'pairing_verified'];

const seen = new Set<string>();
const CANARY = 'kanarienvogel';
const text = (what: string) => `${CANARY} ${what}`;

describe('the log of the daemon', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let rig: Rig;
  let clock: StepClock;
  let breaks: Error | null;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    clock = new StepClock();
    breaks = null;
    proxy = await new FaultProxy(server.url).listen();
    rig = new Rig(server);
    rig.origin = proxy.url;
  });
  afterEach(async () => {
    proxy.heal();
    await rig.daemon.stop(false);
    for (const { ev } of lines()) seen.add(ev);
    const all = readFileSync(rig.logFile, 'utf8');
    for (const never of [CANARY, rig.machine.home, server.dana.token!]) expect(all).to.not.include(never);
    expect(all).to.not.match(/ab[a-z]_[\w-]{8}/);
    await rig.stop();
    await proxy.down();
  });

  const start = (options: RigOptions = {}) => {
    const { folders, home } = rig.machine;
    const place = { folders, env: { SERVICE_HOME: home }, version: '0.0.1' };
    const at = () => {
      if (breaks) throw breaks;
    };
    const ports: RigOptions['ports'] = (connecting) => serverPorts(place, connecting);
    return rig.start({ clock, ports, faults: { at }, ...options });
  };
  const lines = () => rig.logged();
  const as = ({ origin, member_id }: SeatRef) => new Api(server.url, rig.machine.credentials.token(origin, member_id)!);
  /** Waits until the daemon has this message of the seat. */
  const read = (seat: SeatRef, seq: number) => {
    const inbox = () => rig.read(seat)?.messages ?? [];
    return until(() => inbox().some((one) => one.seq === seq), `#${seq} was read`);
  };
  const written = (ev: string) => rig.logged(ev);
  const one = async (ev: string): Promise<LogLine> => {
    await until(() => written(ev).length > 0, `${ev} is written`);
    return written(ev)[0]!;
  };

  it('tells a typical life in its order, and of each handoff which it is, for whom and how large', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const peer = await rig.seat({ id: seat.board_id, name: board });
    const session = await rig.session(seat, { cwd: `/home/${CANARY}` });
    await one('server_connected');
    const hook = await session.wait();
    const { seq } = await rig.say(board, text('hello'));
    const carry = await hook.next();
    await took(hook, carry);
    await hook.end();
    await session.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    await session.hook('boundary');
    await one('acked');
    // A peer's word is only announced in a running turn.
    const announced = await post(as(peer.seat), board, text('peer'), { to: [`@${seat.name}`] });
    await read(seat, announced.seq);
    await session.hook('boundary');
    await server.dana.ok('setDeliveryMode', { params: { board, member: seat.name }, body: { mode: 'all' } });
    await one('mode_changed');
    await server.dana.ok('removeMember', { params: { board, member: seat.name } });
    await one('seat_ended');
    await session.ask('end', { reason: text('over') });
    await rig.daemon.stop(false);
    const told = lines().filter(({ ev }) => !['server_connected', 'server_lost', 'presence_failed'].includes(ev));
    expect(told.map(({ ev }) => ev)).to.deep.equal([
      'daemon_started',
      'session_started',
      'bound',
      'handoff_prepared',
      'handoff_handed',
      'handoff_accepted',
      'handoff_confirmed',
      'acked',
      'boundary',
      'notice',
      'mode_changed',
      'seat_ended',
      'session_closed',
      'daemon_stopping',
    ]);
    for (const line of told.filter(({ ev }) => ev.startsWith('handoff_'))) {
      const { t, level, ev: _, ms, bytes, ...ids } = line;
      expect(ids).to.deep.equal({
        handoff: carry['handoff_id'],
        session: session.key,
        seats: [seat.member_id],
        seqs: [seq],
        class: 'owner_only',
        path: 'wait',
      });
      expect(Date.parse(t)).to.be.a('number').and.not.NaN;
      expect([level, bytes]).to.deep.equal(['info', Buffer.byteLength(String(carry['bundle']))]);
      expect(ms).to.be.at.least(0);
    }
    expect(written('acked')[0]).to.deep.include({ seats: [seat.member_id], seqs: [seq] });
    expect(written('session_closed')[0]).to.include({ session: session.key, reason: 'end' });
  });

  it('tells what went wrong with a handoff, and why', async () => {
    const answers = [{ retry: 'exit 3' }, { retry: text('what it printed') }];
    const adapter = fakeAdapter(['queue'], { hand: async () => answers.shift() ?? { retry: 'queue_timeout' } });
    await start({ adapter });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.say(board, text('hello'));
    for (let n = 1; n < 5; n++) {
      await until(() => written('handoff_retry').length === n, `attempt ${n} failed`);
      clock.pass(20_000);
    }
    const attention = await one('handoff_attention');
    expect(attention).to.include({ session: session.key, path: 'queue', reason: 'queue_timeout', level: 'warn' });
    expect(written('handoff_retry').map(({ reason }) => reason)).to.deep.equal([
      'exit 3',
      '…',
      ...Array(2).fill('queue_timeout'),
    ]);
  });

  it('tells of wakes that were lost, swallowed or came to nothing', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    await rig.say(board, text('hello'));
    const killed = await session.wait();
    await killed.next();
    await killed.end();
    expect(await one('handoff_pending')).to.include({ session: session.key, reason: 'carrier_closed' });
    for (let round = 0; round < 3; round++) {
      const hook = await session.wait();
      await took(hook, await hook.next());
      clock.pass(10_000);
      const typed = await session.open('turn_start', { started: clock.nowUs() });
      await typed.next();
      await typed.end();
    }
    expect(await one('handoff_stalled')).to.include({ session: session.key, level: 'warn' });
    expect(await one('wake_echo_missing')).to.deep.include({ session: session.key, seats: [seat.member_id] });
  });

  it('tells who holds a seat, and when a session comes back', async () => {
    await start();
    const { seat } = await rig.seat();
    const first = await rig.session(seat);
    const second = await rig.session(seat);
    expect(await one('moved')).to.deep.include({ session: second.key, from: first.key, seats: [seat.member_id] });
    await first.ask('end', { reason: 'exit' });
    await first.ask('register', { source: 'resume' });
    expect(await one('session_resumed')).to.include({ session: first.key, source: 'resume' });
    expect(await one('session_closed')).to.include({ session: first.key, reason: 'end' });
  });

  it('tells of servers that go, come back, or are others now, and of what could not be said there', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    expect(await one('server_connected')).to.include({ origin: proxy.url, feed: 'stream' });
    proxy.cutStreams();
    expect(await one('server_lost')).to.include({ origin: proxy.url, level: 'warn' });
    proxy.fail(({ path }) => path.includes('/v1/me/presence'), { status: 503 });
    await session.hook('turn_start');
    clock.pass(1_000);
    expect(await one('presence_failed')).to.deep.include({ seats: [seat.member_id], what: 'presence' });
    proxy.fail('POST /v1/me/inbox/ack', { status: 500, body: text('page') }, 1);
    const { seq } = await rig.say(board, text('hello'));
    await read(seat, seq);
    await session.hook('boundary');
    await session.hook('boundary');
    expect(await one('ack_failed')).to.deep.include({ seats: [seat.member_id], level: 'warn' });
    await rig.machine.knows(proxy.url, 'srv_another', server.dana);
    proxy.cutStreams();
    clock.pass(60_000);
    expect(await one('server_identity_changed')).to.include({ origin: proxy.url, level: 'error' });
  });

  it('tells what the machine’s rights were used for', async () => {
    await start();
    const session = await rig.session();
    const board = `${CANARY}-board`;
    const made = await session.ask('create_board', {
      server: proxy.url,
      create: { name: board, title: text('title') },
      idempotency_key: 'make-it',
    });
    const member = (made['member'] as { id: string }).id;
    expect(await one('create_board')).to.deep.include({ session: session.key, seats: [member] });
    const other = await rig.session();
    const joined = await other.ask('join', { agent: { server: proxy.url, board } });
    expect(await one('join')).to.deep.include({ session: other.key, seats: [(joined['member'] as { id: string }).id] });
    expect(await one('delegation_made')).to.include({ origin: proxy.url });
    await rig.daemon.stop(false);
    expect(await one('delegation_ended')).to.include({ origin: proxy.url });
  });

  it('tells of reminders, and of answers that came too late for their hook', async () => {
    await start();
    const { seat, board } = await rig.seat();
    await as(seat).ok('setMyLine', { body: { kind: 'working', text: text('line') } });
    const session = await rig.session(seat);
    clock.pass(3 * 3_600_000);
    // What was under way was late by that.
    await rig.connected();
    await session.hook('turn_start');
    expect(await one('nudge')).to.deep.include({ session: session.key, seats: [seat.member_id], code: 'line_stale' });
    await read(seat, (await rig.say(board, text('hello'))).seq);
    proxy.fail('GET /v1/me/inbox', 'hold');
    const late = await session.open('boundary', { started: clock.nowUs() });
    // Other reads may be held as well, so time goes on until the hook's own is late.
    await until(() => {
      clock.pass(1_000);
      return written('slow_op').length > 0;
    }, 'it is late');
    await late.next();
    expect(await one('slow_op')).to.include({ session: session.key, op: 'boundary', level: 'warn' });
  });

  it('tells what broke inside, without what it broke at', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const launches = join(rig.paths.state, 'launches');
    mkdirSync(launches, { mode: 0o700 });
    writeFileSync(join(launches, `lch_${'0'.repeat(24)}.json`), text('no JSON'), { mode: 0o600 });
    await session.hook('turn_start', { launch: `lch_${'0'.repeat(24)}` });
    expect(await one('hook_error')).to.include({ session: session.key, op: 'launch' });
    await session.ask('turn_end', { started: clock.nowUs() });
    const hook = await session.wait();
    breaks = new JournalError(text('disk full'));
    await rig.say(board, text('hello'));
    expect(await one('journal_error')).to.include({ session: session.key, level: 'error', code: 'JournalError' });
    breaks = null;
    clock.pass(2_500);
    expect((await hook.next())['bundle']).to.include(CANARY);
  });
});

describe('the log of the daemon, all together', () => {
  it('tells everything the contract names, here or where what it tells of is tested', () => {
    expect(events.filter((ev) => !seen.has(ev) && !elsewhere.includes(ev))).to.deep.equal([]);
    expect([...seen].filter((ev) => !events.includes(ev))).to.deep.equal([]);
  });
});
