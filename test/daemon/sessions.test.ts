/** Sessions and the seats they hold: only the exact session and boot is given anything. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DAY } from '../../src/contract/durations.ts';
import { issueTicket } from '../../src/launch/ticket.ts';
import { credentialsPath } from '../../src/local/keys/credentials.ts';
import { isGone, type ProcessRef, processRef } from '../../src/local/process-ref.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { errorOf } from './support/error-of.ts';
import { fakeAdapter } from './support/parts.ts';
import { type Rig, TestSession, took } from './support/rig.ts';
import { withRig } from './support/rigged.ts';
import { StepClock } from './support/step-clock.ts';

type Seats = { name: string; member_id: string; generation?: number; mode: string }[];

describe('sessions of the daemon', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  withRig((made) => {
    ({ server, rig, clock } = made);
  });

  const seatsOf = async (session: TestSession): Promise<Seats> =>
    ((await session.ask('agents'))['seats'] as Seats) ?? [];

  it('are unknown until they register, and say who they are then', async () => {
    const { seat } = await rig.seat();
    const stranger = new TestSession(rig, { harness: 'fake', session: 'nobody' });
    for (const op of ['agents', 'turn_start', 'boundary', 'end', 'plan', 'prompt'])
      expect(errorOf(await stranger.ask(op, op === 'plan' ? { plan: { text: 'x' } } : {})), op).to.equal(
        'session_unknown',
      );
    expect(errorOf(await stranger.bind(seat))).to.equal('session_unknown');
    const session = await rig.session(seat);
    expect(await seatsOf(session)).to.deep.include.members([
      {
        server: seat.origin,
        board: seat.board,
        name: seat.name,
        member_id: seat.member_id,
        board_id: seat.board_id,
        mode: 'focused',
        unread: 0,
        generation: 1,
      },
    ]);
    const again = await session.ask('register', { source: 'compact' });
    expect(again['note']).to.contain(seat.name).and.contain(seat.board);
    expect(again).to.not.have.property('reopened');
  });

  it('are noted with the folder that they were started in, whatever a later hook or a command says', async () => {
    const session = new TestSession(rig, { harness: 'fake', session: 'moves' });
    const folder = async () => {
      const { sessions } = (await rig.ask('status')) as { sessions: { key: string; folder?: string }[] };
      return sessions.find(({ key }) => key === session.key)!.folder;
    };
    await session.ask('register', { source: 'startup', cwd: '/home/dana/work/src' });
    expect(await folder()).to.equal(undefined);
    await session.ask('register', { source: 'resume', boot: '0123456789abcdef', cwd: '/home/dana/work' });
    await session.ask('register', { source: 'compact', cwd: '/home/dana/other' });
    expect(await folder()).to.equal('/home/dana/work');
  });

  it('get nothing bound that no saved token proves', async () => {
    const { seat } = await rig.seat();
    const session = await rig.session();
    const { origin, board, name } = seat;
    for (const agent of [
      { server: origin, board, name, member_id: 'mem_01M7ZNGWKZMFQ204KWRHRZQBZ3' },
      { server: origin, board, name: 'somebody' },
      { server: 'http://127.0.0.1:1', board, name },
    ])
      expect(errorOf(await session.ask('bind', { agent }))).to.equal('invalid_request');
    expect(await seatsOf(session)).to.deep.equal([]);
    expect(rig.rows('SELECT * FROM bindings')).to.deep.equal([]);
  });

  it('hold one seat a board: another replaces it, and what it had under way is unread again', async () => {
    const board = await newBoard(server.dana);
    const { seat: first } = await rig.seat(board);
    const session = await rig.session(first);
    await rig.say(board.name, 'hello');
    const hook = await session.wait();
    await took(hook, await hook.next());
    const { seat: second } = await rig.seat(board);
    const bound = await session.bind(second);
    expect(bound['previous']).to.include({ member_id: first.member_id });
    expect((await seatsOf(session)).map(({ member_id }) => member_id)).to.deep.equal([second.member_id]);
    // The confirmation of what was handed to the old binding is none.
    await session.hook('boundary');
    expect(rig.states()).to.deep.equal(['ended']);
    await session.bind(first);
    const again = await session.wait();
    const { bundle } = await again.next();
    expect(bundle).to.contain('hello');
    expect((await seatsOf(session))[0]).to.include({ generation: 3 });
  });

  it('lose a seat to the session that takes it, keep the others, and are told how to take it back', async () => {
    const one = await rig.seat();
    const two = await rig.seat();
    const first = await rig.session(one.seat);
    await first.bind(two.seat);
    const second = await rig.session(one.seat);
    expect((await seatsOf(first)).map(({ name }) => name)).to.deep.equal([two.seat.name]);
    expect((await first.ask('agents'))['lost']).to.have.nested.property('[0].member_id', one.seat.member_id);
    const hook = await first.wait();
    const other = await second.wait();
    await rig.say(one.board, 'for the second');
    expect((await other.next())['bundle']).to.contain('for the second');
    expect(hook.more).to.equal(false);
    clock.pass(2_000);
    const resumed = await first.ask('register', { source: 'resume' });
    expect(resumed['lost']).to.have.length(1);
    // On the other board its agent has the same name.
    expect(resumed['note']).to.contain(`service resume ${one.seat.name}@${one.board}`);
    expect(await seatsOf(second)).to.have.length(1);
    await first.bind(one.seat);
    expect(await seatsOf(second)).to.deep.equal([]);
    clock.pass(2_000);
    expect(await first.ask('register', { source: 'resume' })).to.not.have.property('lost');
  });

  it('hear at their next tool call or turn that a seat was taken, once, also after a restart of the daemon', async () => {
    const { seat, board } = await rig.seat();
    const first = await rig.session(seat);
    const second = await rig.session(seat);
    await rig.restart({ clock });
    const taken = `service: another session took ${seat.name} on ${board}. To take it back: service resume ${seat.name}@${board}`;
    expect((await first.hook('boundary'))['nudge']).to.equal(taken);
    expect(await first.hook('boundary')).to.not.have.property('nudge');
    await first.bind(seat);
    expect((await second.hook('turn_start'))['nudge']).to.equal(taken);
    await second.bind(seat);
    await first.bind(seat);
    // It has it again.
    expect(await first.hook('turn_start')).to.not.have.property('nudge');
    clock.pass(2_000);
    expect((await second.hook('register', { source: 'compact' }))['note']).to.contain(taken);
    expect(await second.hook('turn_start')).to.not.have.property('nudge');
  });

  it('hear of a seat that was taken or has ended until a hook took the line, also after a restart of the daemon', async () => {
    const [one, two] = [await rig.seat(), await rig.seat()];
    const first = await rig.session(one.seat);
    await first.bind(two.seat);
    await rig.session(one.seat);
    await server.dana.ok('removeMember', { params: { board: two.board, member: two.seat.name } });
    await until(() => rig.row(two.seat).problem === 'agent_removed', 'it has ended');
    const taken = `service: another session took ${one.seat.name} on ${one.board}`;
    const ended = `service: you are no longer on ${two.board}`;
    for (const op of ['boundary', 'turn_start']) {
      const died = await first.open(op);
      expect((await died.next())['nudge'])
        .to.contain(taken)
        .and.contain(ended);
      await died.end();
      await rig.restart({ clock });
    }
    // A command that makes its session known prints no note.
    clock.pass(2_000);
    const known = await first.ask('register', { source: 'resume' });
    expect(known['note']).to.contain(taken).and.contain(ended).and.not.contain('You are');
    expect((await first.hook('boundary'))['nudge'])
      .to.contain(taken)
      .and.contain(ended);
    await rig.restart({ clock });
    expect(await first.hook('boundary')).to.not.have.property('nudge');
  });

  it('hear once of a seat that ended, and are then told what to run as a session with one seat', async () => {
    const [one, two] = [await rig.seat(), await rig.seat()];
    const session = await rig.session(one.seat);
    await session.bind(two.seat);
    await server.dana.ok('removeMember', { params: { board: two.board, member: two.seat.name } });
    await until(() => rig.row(two.seat).problem === 'agent_removed', 'it has ended');
    const ended = `service: you are no longer on ${two.board}`;
    expect((await session.hook('boundary'))['nudge']).to.contain(ended);
    await rig.say(one.board, 'what is left', { expects_reply: true });
    const { bundle } = await session.hook('turn_start');
    expect(bundle).to.contain('what is left').and.contain('service say --reply').and.not.contain('seat="');
    expect(bundle).to.not.contain('--board');
    clock.pass(2_000);
    const resumed = await session.hook('register', { source: 'resume' });
    expect(resumed['note']).to.contain('You are').and.not.contain(ended);
  });

  it('hear of the end of a seat also where a command deleted its token before the daemon asked', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    await rig.machine.credentials.endSeat(seat.origin, seat.member_id);
    await rig.say(board, 'for nobody');
    await until(() => rig.row(seat).problem !== null, 'it was asked for');
    expect(rig.row(seat).problem).to.equal('agent_removed');
    expect((await session.hook('boundary'))['nudge']).to.contain(`you are no longer on ${board}`);
  });

  it('hear of a seat that was taken with the message that wakes them', async () => {
    const [one, two] = [await rig.seat(), await rig.seat()];
    const first = await rig.session(one.seat);
    await first.bind(two.seat);
    const hook = await first.wait();
    await rig.session(one.seat);
    await rig.say(two.board, 'wake up');
    const carry = await hook.next();
    expect(carry['nudge']).to.contain(`service: another session took ${one.seat.name}`);
    await took(hook, carry);
    await first.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    expect(await first.hook('boundary')).to.not.have.property('nudge');
  });

  it('are told nothing of a lost seat that was removed since', async () => {
    const { seat, board } = await rig.seat();
    const first = await rig.session(seat);
    await rig.session(seat);
    await rig.connected();
    await rig.server.dana.ok('removeMember', { params: { board, member: seat.name } });
    await until(() => rig.machine.credentials.token(seat.origin, seat.member_id) === null, 'its token is dropped');
    clock.pass(2_000);
    expect(await first.ask('register', { source: 'resume' })).to.not.have.any.keys('lost', 'note');
  });

  it('are told to take back a seat by its id where another server has one of its names', async () => {
    const { seat } = await rig.seat();
    await rig.machine.knows('https://boards.example.com', 'srv_other', null);
    await rig.machine.holds(
      'https://boards.example.com',
      { id: 'brd_other', name: seat.board },
      Object.assign(Object.create(rig.server.dana), { memberId: 'mem_other', name: seat.name, token: 'aba_other' }),
    );
    const first = await rig.session(seat);
    await rig.session(seat);
    clock.pass(2_000);
    const { note } = await first.ask('register', { source: 'resume' });
    expect(note).to.match(new RegExp(`To take it back: service resume ${seat.member_id}$`));
    chmodSync(credentialsPath(rig.machine.folders), 0o644);
    clock.pass(2_000);
    expect((await first.ask('register', { source: 'resume' }))['note']).to.contain(`${seat.name}@${seat.board}`);
  });

  it('that come back with their id hold their seats again, and get what they had not confirmed', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'hello');
    await took(hook, await hook.next());
    await session.ask('end');
    expect(rig.states()).to.deep.equal(['pending']);
    session.header = { ...session.header, boot: 'ffffffffffffffff' };
    const back = await session.ask('register', { source: 'resume' });
    expect(back).to.include({ reopened: true, boot: 'ffffffffffffffff' });
    expect((back['seats'] as Seats)[0]).to.include({ name: seat.name });
    const start = await session.hook('turn_start');
    expect(start['bundle']).to.contain('hello');
    await session.hook('boundary');
    await rig.acked(seat, seq);
  });

  it('have no seat followed while they are closed, and get what came meanwhile when they are back', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    await session.ask('end');
    expect(await rig.ask('status')).to.not.have.property('servers');
    const { seq } = await rig.say(board, 'meanwhile');
    expect((await session.hook('turn_start'))['bundle']).to.contain('meanwhile');
    await session.hook('boundary');
    await rig.acked(seat, seq);
    await rig.connected();
  });

  it('get at a tool boundary what came while they were closed', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    await session.hook('turn_start');
    await session.ask('end');
    await rig.say(board, 'meanwhile');
    expect((await session.hook('boundary'))['bundle']).to.contain('meanwhile');
  });

  it('get what is posted on a board of somebody else than the person whose key is here', async () => {
    const eve = await server.person('eve', 'admin');
    const board = await newBoard(eve);
    const agent = await newAgent(eve, board.name);
    const own = await rig.session((await rig.seat()).seat);
    await rig.connected();
    const session = await rig.session(await rig.machine.holds(rig.origin, board, agent));
    const hook = await session.wait();
    await post(eve, board.name, 'hello');
    expect((await hook.next())['bundle']).to.contain('hello');
    await own.ask('end');
  });

  it('that are closed take no long poll from those that are open', async () => {
    const { server_id } = await server.nobody.ok('getInfo');
    await rig.machine.knows(rig.origin, server_id, null);
    const quiet = await newBoard(server.dana);
    for (let n = 0; n < 32; n++) await (await rig.session((await rig.seat(quiet)).seat)).ask('end');
    const { seat, board } = await rig.seat();
    const hook = await (await rig.session(seat)).wait();
    await rig.say(board, 'for the one that is open');
    expect((await hook.next())['bundle']).to.contain('for the one that is open');
  });

  it('fence what was handed to an older boot, whose callbacks confirm nothing', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const old = { ...session.header };
    const hook = await session.wait();
    await rig.say(board, 'hello');
    const carry = await hook.next();
    await took(hook, carry);
    session.header = { ...session.header, boot: 'eeeeeeeeeeeeeeee' };
    await session.ask('register', { source: 'clear' });
    expect(rig.states()).to.deep.equal(['pending']);
    const stale = new TestSession(rig, old);
    expect(await stale.hook('boundary')).to.deep.equal({ v: 1 });
    expect(await stale.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] })).to.deep.equal({ v: 1 });
    const refused = await stale.open('wait');
    await refused.next();
    expect(await refused.next()).to.include({ event: 'release' });
    expect(rig.states()).to.deep.equal(['pending']);
    expect((await session.ask('agents'))['boot']).to.equal('eeeeeeeeeeeeeeee');
  });

  it('take the boot of their first hook in place of the one that was made for them', async () => {
    const { seat } = await rig.seat();
    const session = new TestSession(rig, { harness: 'fake', session: 'early' });
    const { boot } = await session.ask('register');
    expect(boot).to.match(/^boot_[0-9a-f]{16}$/);
    await session.bind(seat);
    session.header = { ...session.header, boot: '1234567890abcdef' };
    await session.hook('turn_start');
    expect(await session.ask('agents')).to.include({ boot: '1234567890abcdef', turn: 'busy' });
    expect(await seatsOf(session)).to.have.length(1);
  });

  it('harness killed: closed within 5 s, and opened by what it says again', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const session = await rig.session(undefined, { process: processRef(child.pid!)! });
    clock.pass(5_000);
    const open = () => rig.isOpen(session);
    expect(open()).to.equal(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until(() => {
      clock.pass(5_000);
      return !open();
    }, 'it is closed');
    // Another process with its number is not it.
    const { pid } = processRef(process.pid)!;
    session.header = { ...session.header, process: { pid, start: 'another time' }, boot: undefined };
    await session.hook('turn_start');
    expect(open()).to.equal(true);
    await until(() => {
      clock.pass(5_000);
      return !open();
    }, 'a process that began at another time is another one');
  });

  describe('where only `ps` tells when a process began', () => {
    const { platform } = process;
    const { TZ } = process.env;
    before(() => Object.defineProperty(process, 'platform', { value: 'darwin' }));
    after(() => {
      Object.defineProperty(process, 'platform', { value: platform });
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    });

    it('stay open when the machine moves to another time zone, and end with their process', async () => {
      process.env['TZ'] = 'Asia/Tokyo';
      const programs = [1, 2].map(() => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']));
      const [stays, ends] = await Promise.all(
        programs.map(({ pid }) => rig.session(undefined, { process: processRef(pid!)! })),
      );
      process.env['TZ'] = 'America/New_York';
      expect(isGone(stays!.header['process'] as ProcessRef)).to.equal(false);
      programs[1]!.kill('SIGKILL');
      await until(() => {
        clock.pass(5_000);
        return !rig.isOpen(ends!);
      }, 'the one whose process ended is closed');
      expect(rig.isOpen(stays!)).to.equal(true);
      programs[0]!.kill('SIGKILL');
    });
  });

  it('end with their process also where its number is that of another user’s process now', () => {
    const { kill } = process;
    const own = processRef(process.pid)!;
    process.kill = () => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    };
    try {
      expect(isGone({ ...own, start: 'an earlier one' })).to.equal(true);
      expect(isGone(own)).to.equal(false);
    } finally {
      process.kill = kill;
    }
  });

  it('take no seat once they are closed, so that a command makes them known again first', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session();
    await session.ask('end');
    expect(errorOf(await session.bind(seat))).to.equal('session_unknown');
    await session.ask('register', { source: 'startup' });
    expect(await session.bind(seat)).to.have.property('mode');
    const hook = await session.wait();
    await rig.say(board, 'hello');
    expect((await hook.next())['bundle']).to.contain('hello');
  });

  it('belong to the process that registered last, whatever another one with their id still says', async () => {
    const old = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const { seat, board } = await rig.seat();
    const first = await rig.session(seat, { process: processRef(old.pid!)!, boot: undefined });
    const hook = await first.wait();
    const second = new TestSession(rig, {
      ...first.header,
      process: processRef(process.pid)!,
      boot: '00000000000000bb',
    });
    await second.ask('register', { source: 'resume' });
    expect(await hook.next()).to.include({ event: 'release' });
    const current = await second.wait();
    const stale = await first.open('wait');
    await stale.next();
    expect(await stale.next()).to.include({ event: 'release' });
    expect(await first.hook('turn_start')).to.deep.equal({ v: 1 });
    await rig.say(board, 'for the newer one');
    expect((await current.next())['bundle']).to.contain('for the newer one');
    old.kill('SIGKILL');
    await once(old, 'exit');
    // Where the one that registered is gone, what another says is a new life of the session.
    const third = new TestSession(rig, { ...first.header, process: { pid: process.pid, start: 'later' } });
    expect(await third.hook('turn_start')).to.deep.equal({ v: 1 });
    await second.ask('register', {
      source: 'resume',
      process: { pid: old.pid!, start: 'gone' },
      boot: '00000000000000cc',
    });
    const start = await third.hook('turn_start');
    expect(start['bundle']).to.contain('for the newer one');
  });

  it('inside another one change nothing and hold no seat', async () => {
    const { seat } = await rig.seat();
    const session = await rig.session(seat);
    const inner = new TestSession(rig, { ...session.header, subagent: 'sub-1' });
    for (const [op, more] of Object.entries({
      register: { source: 'startup' },
      bind: { agent: { server: seat.origin, board: seat.board, name: seat.name } },
      join: { agent: { server: seat.origin, board: seat.board } },
      create_board: { server: seat.origin, create: {}, idempotency_key: 'k' },
      pairing: { server: seat.origin, action: 'accept', idempotency_key: 'k' },
      hello: { source: 'startup' },
    }))
      expect(errorOf(await inner.ask(op, more)), op).to.equal('subagent_session');
    await rig.say(seat.board, 'hello');
    expect(await inner.hook('turn_start')).to.deep.equal({ v: 1 });
    expect(await inner.hook('boundary')).to.deep.equal({ v: 1 });
    expect((await session.ask('agents'))['turn']).to.equal('unknown');
  });

  it('are refused what only a real session may do', async () => {
    const stranger = new TestSession(rig, { harness: 'fake', session: 'never-seen' });
    const closed = await rig.session();
    await closed.ask('end');
    for (const session of [stranger, closed])
      expect(errorOf(await session.ask('join', { agent: { server: rig.origin, board: 'demo' } }))).to.equal(
        'agent_session_required',
      );
  });

  it('are not registered where their program says that there are none', async () => {
    await rig.restart({
      clock,
      adapter: fakeAdapter(['queue'], { check: async () => ({ code: 'harness_target_absent' }) }),
    });
    const session = new TestSession(rig, { harness: 'fake', session: 'ghost' });
    expect(errorOf(await session.ask('register', { source: 'startup' }))).to.equal('harness_target_absent');
    expect((await rig.ask('status'))['open_sessions'] ?? 0).to.equal(0);
  });

  it('of which their program has nothing yet are taken at their word, but get no seat before it has', async () => {
    let target: 'ok' | 'unstarted' = 'unstarted';
    await rig.restart({ clock, adapter: fakeAdapter(['queue', 'turn-start'], { check: async () => target }) });
    const { seat } = await rig.seat();
    const session = new TestSession(rig, { harness: 'fake', session: 'fresh', boot: 'feedfeedfeedfeed' });
    expect(await session.ask('register', { source: 'startup' })).to.not.have.property('error');
    expect((await session.ask('agents'))['turn']).to.equal('unknown');
    await session.hook('turn_start');
    expect((await session.ask('agents'))['turn']).to.equal('busy');
    const agent = { server: rig.origin, board: seat.board };
    for (const refused of [await session.bind(seat), await session.ask('join', { agent })])
      expect(errorOf(refused)).to.equal('harness_target_absent');
    target = 'ok';
    expect(await session.bind(seat)).to.not.have.property('error');
    // Once it holds a seat, a program that knows nothing of it has lost it.
    target = 'unstarted';
    await session.ask('end');
    expect(errorOf(await session.ask('register', { source: 'resume' }))).to.equal('harness_target_absent');
  });

  it('told twice of one event answer once', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.say(board, 'hello');
    const first = await session.hook('turn_start', { harness_turn: 't1' });
    expect(first['bundle']).to.contain('hello');
    const second = await session.hook('turn_start', { harness_turn: 't1' });
    expect(second).to.deep.equal({ v: 1 });
    // It confirmed nothing either.
    expect(rig.states()).to.deep.equal(['handed']);
  });

  it('started by two hooks at once have one boot, and are told once who they are', async () => {
    let asked = 0;
    let both = () => {};
    const together = new Promise<void>((resolve) => {
      both = resolve;
    });
    const check = async () => {
      if (++asked === 2) both();
      await together;
      return 'ok' as const;
    };
    const { seat } = await rig.seat();
    const former = await rig.session(seat, { session: 'doubled' });
    await former.ask('end');
    await rig.restart({ clock, adapter: fakeAdapter(['queue'], { check }) });
    const start = (boot: string) =>
      new TestSession(rig, { harness: 'fake', session: 'doubled', boot }).ask('register', { source: 'resume' });
    const [one, two] = await Promise.all([start('00000000000000a1'), start('00000000000000a2')]);
    expect(one['boot']).to.equal(two['boot']);
    expect([one, two].filter(({ note }) => note !== undefined)).to.have.length(1);
    // A start that comes later is one of its own.
    clock.pass(1_000);
    expect((await start('00000000000000a3'))['boot']).to.equal('00000000000000a3');
  });

  it('start with a ticket, which works once and for a quarter of an hour', async () => {
    const { seat } = await rig.seat();
    const { launches } = rig.paths;
    const agent = { server: seat.origin, board: seat.board, name: seat.name };
    const ticket = (minutes: number) => issueTicket(launches, agent, 'fake', Date.now() - minutes * 60_000);
    const late = await rig.session();
    await late.hook('turn_start', { launch: ticket(16) });
    expect(await seatsOf(late)).to.deep.equal([]);
    const launch = ticket(1);
    expect(statSync(join(launches, `${launch}.json`)).mode & 0o777).to.equal(0o600);
    const first = await rig.session();
    await first.hook('turn_start', { launch });
    expect(await seatsOf(first)).to.have.length(1);
    const second = await rig.session();
    await second.hook('turn_start', { launch });
    expect(await seatsOf(second)).to.deep.equal([]);
    // One for another program, one whose seat this machine does not hold, and one that is no ticket at all.
    const strange = [
      issueTicket(launches, agent, 'other'),
      issueTicket(launches, { ...agent, name: 'nobody' }, 'fake'),
      'lch_000000000000000000000000',
    ];
    for (const launch of strange) await second.hook('turn_start', { launch });
    expect(await seatsOf(second)).to.deep.equal([]);
  });

  it('take the seat of a ticket also when they were made known a moment before', async () => {
    const { seat } = await rig.seat();
    const agent = { server: seat.origin, board: seat.board, name: seat.name };
    const session = await rig.session();
    await session.ask('register', { source: 'startup' });
    await session.ask('register', { source: 'startup', launch: issueTicket(rig.paths.launches, agent, 'fake') });
    expect(await seatsOf(session)).to.have.length(1);
  });

  it('and their seats are known after a restart', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    await session.hook('turn_end');
    await rig.restart();
    expect(await session.ask('agents')).to.include({ turn: 'idle' });
    const hook = await session.wait({ resumed: true });
    await rig.say(board, 'after the restart');
    expect((await hook.next())['bundle']).to.contain('after the restart');
  });

  it('that ended a week ago are forgotten at a start', async () => {
    const session = await rig.session();
    await session.ask('end');
    const later = new StepClock();
    later.now = () => Date.now() + 8 * DAY;
    await rig.restart({ clock: later });
    expect(rig.rows(`SELECT key FROM sessions WHERE key = '${session.key}'`)).to.deep.equal([]);
    expect(errorOf(await session.ask('agents'))).to.equal('session_unknown');
  });

  it('give up a seat when they are told to', async () => {
    const { seat } = await rig.seat();
    const session = await rig.session(seat);
    const { origin, board, name } = seat;
    const left = await session.ask('unbind', { agent: { server: origin, board, name } });
    expect(left['seats'] ?? []).to.deep.equal([]);
    expect(rig.rows('SELECT * FROM bindings')).to.deep.equal([]);
  });

  it('take seats one after the other, however many ask at once', async () => {
    const board = await newBoard(server.dana);
    const seats = await Promise.all([1, 2, 3, 4].map(() => rig.seat(board)));
    const session = await rig.session();
    await Promise.all(seats.map(({ seat }) => session.bind(seat)));
    expect(await seatsOf(session)).to.have.length(1);
    expect(rig.rows('SELECT * FROM bindings')).to.have.length(1);
  });

  it('hold at most twenty seats, and are at most two hundred, of which those without a known process make room', async () => {
    const alive = { process: processRef(process.pid)! };
    const waiting = await rig.session();
    await waiting.wait();
    const working = await rig.session();
    const left = await rig.session();
    const session = await rig.session(undefined, alive);
    const boards = await Promise.all(Array.from({ length: 21 }, () => rig.seat()));
    for (const { seat } of boards.slice(0, 20)) expect(await session.bind(seat)).to.not.have.property('error');
    expect(errorOf(await session.bind(boards[20]!.seat))).to.equal('invalid_request');
    expect(
      errorOf(await session.ask('create_board', { server: rig.origin, create: {}, idempotency_key: 'k' })),
    ).to.equal('invalid_request');
    expect(await seatsOf(session)).to.have.length(20);
    const [ended, over] = [boards[0]!, boards[20]!];
    await server.dana.ok('removeMember', { params: { board: ended.board, member: ended.seat.name } });
    await until(() => rig.row(ended.seat).problem === 'agent_removed', 'it has ended');
    expect(await session.bind(over.seat)).to.not.have.property('error');
    for (let n = 4; n < 200; n++) await rig.session(undefined, alive);
    clock.pass(1_000);
    await working.hook('boundary');
    const register = (name: string) =>
      new TestSession(rig, { harness: 'fake', session: name, ...alive }).ask('register', { source: 'startup' });
    expect(errorOf(await register('in-place-of-one'))).to.equal(undefined);
    expect([left, working, waiting].map(rig.isOpen)).to.deep.equal([false, true, true]);
    expect(errorOf(await register('in-place-of-another'))).to.equal(undefined);
    expect([working, waiting].map(rig.isOpen)).to.deep.equal([false, true]);
    expect(errorOf(await register('one-too-many'))).to.equal('invalid_request');
    await session.ask('end');
    expect(errorOf(await register('one-too-many'))).to.equal(undefined);
  });

  it('have the agents of other servers beside each other', async () => {
    const other = await startTestServer('sqlite');
    try {
      const { seat } = await rig.seat();
      const board = await newBoard(other.dana);
      await rig.machine.knows(other.url, (await other.nobody.ok('getInfo')).server_id, other.dana);
      const agent = await newAgent(other.dana, board.name);
      const far = await rig.machine.holds(other.url, board, agent);
      const session = await rig.session(seat);
      await session.bind(far);
      const hook = await session.wait();
      await other.dana.ok('postMessage', { params: { board: board.name }, body: { body: 'from afar' } });
      expect((await hook.next())['bundle']).to.contain('from afar');
    } finally {
      await other.stop();
    }
  });
});
