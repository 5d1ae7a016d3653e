/** What the daemon says of itself: every field the contract names, true for what has just happened, and no text of anybody. */
import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { fakeAdapter } from './support/parts.ts';
import { Rig, took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

// biome-ignore lint/suspicious/noExplicitAny: an answer that is looked into field by field
type Status = any;

describe('the status of the daemon', () => {
  let server: TestServer;
  let rig: Rig;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  afterEach(() => rig.stop());
  const status = async (): Promise<Status> => rig.ask('status');

  it('names build, servers, sessions, bindings and numbers', async () => {
    rig = await new Rig(server).start();
    const { seat, board } = await rig.seat();
    const fresh = await status();
    // What is empty or zero is not on the wire.
    expect(Object.keys(fresh)).to.have.members(['v', 'pid', 'build', 'protocol', 'started_at', 'instance', 'metrics']);
    const session = await rig.session(seat);
    const hook = await session.wait({ capabilities: [] });
    await until(async () => (await status()).servers?.[0]?.connected === true, 'it is connected');
    const { seq } = await rig.say(board, 'kanarienvogel');
    const carry = await hook.next();
    await took(hook, carry);
    await session.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    await session.hook('boundary', { capabilities: ['midturn-peer'] });
    await rig.acked(seat, seq);
    await until(async () => (await status()).metrics.acked === 1, 'it is counted');
    const now = await status();
    const agent = {
      server: rig.origin,
      board,
      name: seat.name,
      member_id: seat.member_id,
      board_id: seat.board_id,
    };
    expect(now).to.include({ pid: process.pid, protocol: 1, open_sessions: 1, instance: fresh.instance });
    expect(now.build).to.deep.equal({ version: '0.0.1' });
    expect(Date.parse(now.started_at)).to.be.at.most(Date.now());
    const [{ since, ...link }, ...others] = now.servers;
    const { server_id } = await server.nobody.ok('getInfo');
    expect([link, others]).to.deep.equal([{ url: rig.origin, server_id, feed: 'stream', connected: true }, []]);
    expect(since).to.equal(new Date(since).toISOString());
    expect(now.sessions).to.deep.equal([
      {
        key: session.key,
        open: true,
        turn: 'busy',
        turned: true,
        boot: session.header['boot'],
        capabilities: ['midturn-peer'],
        seats: [agent],
      },
    ]);
    expect(now.bindings).to.deep.equal([{ agent, session: session.key, open: true, turned: true }]);
    const { hook_p95_ms, deliver_p50_ms, deliver_p95_ms, journal_bytes, ...counts } = now.metrics;
    expect(counts).to.deep.equal({
      handed: 1,
      confirmed: 1,
      redelivered: 0,
      attention: 0,
      acked: 1,
      ack_failures: 0,
      wakes: 1,
      turn_starts: 0,
      boundaries: counts.boundaries,
      notices: 0,
      nudges: 0,
      wake_echo_missing: 0,
      uncaught_errors: 0,
      reconnects: 0,
    });
    for (const number of [hook_p95_ms, deliver_p50_ms, deliver_p95_ms, journal_bytes]) expect(number).to.be.at.least(0);
    expect(JSON.stringify(now))
      .to.not.include('kanarienvogel')
      .and.not.match(/ab[a-z]_[\w-]{8}/);
    await session.ask('end');
    const ended = await status();
    expect(ended).to.not.have.property('open_sessions');
    expect(ended.sessions[0]).to.include({ open: false });
  });

  it('names what was handed in part, what needs somebody, and seats that have a problem', async () => {
    const clock = new StepClock();
    const adapter = fakeAdapter(['queue', 'turn-start'], {
      hand: async (_session, text) => (text.includes('refuse') ? { retry: 'exit 3' } : 'accepted_confirmed'),
      check: async () => 'ok',
    });
    rig = await new Rig(server).start({ clock, adapter });
    const { seat, board } = await rig.seat();
    await rig.session(seat);
    const long = await rig.say(board, 'ü'.repeat(30_000));
    await rig.acked(seat, long.seq);
    const { truncated } = await status();
    expect(truncated).to.have.length(1);
    expect(truncated[0]).to.deep.include({ seq: long.seq });
    expect(truncated[0].agent).to.include({ name: seat.name, board });
    const bad = await rig.say(board, 'refuse');
    for (let n = 1; n <= 5; n++) {
      await until(
        async () => (await status()).metrics.redelivered === n || (await status()).attention?.length > 0,
        'it failed',
      );
      clock.pass(20_000);
    }
    await until(async () => (await status()).attention?.length === 1, 'it needs somebody');
    const [attention] = (await status()).attention;
    expect(attention).to.deep.include({ seqs: [bad.seq], reason: 'exit 3' });
    expect(attention.agent).to.include({ name: seat.name, member_id: seat.member_id });
    expect(attention.handoff_id).to.match(/^hnd_[0-9a-f]{32}$/);
    await server.dana.ok('removeMember', { params: { board, member: seat.name } });
    await until(async () => (await status()).agents?.length === 1, 'the seat has a problem');
    const [{ agent, problem, since }] = (await status()).agents;
    expect([agent.name, problem]).to.deep.equal([seat.name, 'agent_removed']);
    expect(Date.parse(since)).to.be.a('number').and.not.NaN;
  });

  it('tells why a program’s queue took nothing, where the program itself knows', async () => {
    for (const code of ['harness_target_absent', 'harness_subagent_target'] as const) {
      const clock = new StepClock();
      let known = true;
      const adapter = fakeAdapter(['queue'], {
        hand: async () => ({ retry: 'exit 1' }),
        check: async () => (known ? 'ok' : { code }),
      });
      rig = await new Rig(server).start({ clock, adapter });
      const { seat, board } = await rig.seat();
      await rig.session(seat);
      known = false;
      await rig.say(board, 'hello');
      await until(async () => {
        clock.pass(20_000);
        return (await status()).attention?.length === 1;
      }, 'it needs somebody');
      expect((await status()).attention[0].reason).to.equal(code);
      if (code === 'harness_target_absent') await rig.stop();
    }
  });

  it('fits into a frame after years of sessions, and leaves out closed ones first', async () => {
    rig = await new Rig(server).start();
    const { seat } = await rig.seat();
    const { journal } = rig;
    await rig.session(seat);
    const [row] = journal.sessions();
    const [kept] = journal.seats();
    journal.write(() => {
      for (let n = 0; n < 2_000; n++) {
        const session_key = `fake:${'0'.repeat(36)}${n}`;
        const gone = { ...kept!, member_id: `mem_${n}`, board_id: `brd_${n}`, problem: 'agent_removed' as const };
        journal.saveSession({ ...row!, key: session_key, open: false, closed_at: Date.now() });
        journal.saveSeat(gone);
        journal.saveBinding({ ...gone, session_key, bound_at: Date.now(), told_mode: null });
      }
    });
    await rig.restart();
    const { sessions, bindings, agents, error } = await status();
    expect(error).to.equal(undefined);
    expect(sessions.filter(({ open }: Status) => open)).to.have.length(1);
    expect(bindings.filter(({ open }: Status) => open)).to.have.length(1);
    for (const list of [sessions, bindings, agents]) expect(list.length).to.be.within(50, 1_999);
  });
});
