/** A journal that cannot be written for a while: the daemon lives on, hands nothing, and makes good what it heard meanwhile. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { JournalError } from '../../src/daemon/journal/journal.ts';
import { processRef } from '../../src/local/process-ref.ts';
import { addBob, decline, held, scene } from '../api/approvals/cast.ts';
import { post } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Breakable } from './support/breakable.ts';
import { errorOf } from './support/error-of.ts';
import { fakeAdapter } from './support/parts.ts';
import { Rig, took } from './support/rig.ts';
import { StepClock } from './support/step-clock.ts';

describe('while its journal cannot be written the daemon', () => {
  let server: TestServer;
  let rig: Rig;
  let clock: StepClock;
  let disk: Breakable;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(() => {
    clock = new StepClock();
    disk = new Breakable();
    rig = new Rig(server);
  });
  afterEach(async () => {
    disk.broken = false;
    await rig.stop();
  });

  const full = () => {
    throw new JournalError('disk I/O error');
  };
  const start = (more = {}) => rig.start({ clock, journal: (journal) => disk.of(journal), ...more });

  it('lets no text into a turn whose beginning it could not note', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    disk.broken = true;
    expect(errorOf(await session.hook('turn_start'))).to.equal('internal');
    disk.broken = false;
    const { seq } = await rig.say(board, 'not into the running turn');
    await rig.seen(seat, seq);
    clock.pass(5_000);
    expect(JSON.stringify(hook.frames)).to.not.contain('deliver');
    expect((await session.hook('boundary'))['bundle']).to.contain('not into the running turn');
  });

  it('takes a session for idle whose receipt it could not note, and notes it once it can', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'the first');
    const carry = await hook.next();
    await took(hook, carry);
    await session.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    disk.broken = true;
    const next = await session.wait();
    disk.broken = false;
    clock.pass(2_000);
    await rig.acked(seat, seq);
    await rig.say(board, 'the second');
    expect((await next.next())['bundle'])
      .to.contain('the second')
      .and.not.contain('the first');
  });

  it('takes the session of an extension for idle whose receipt it could not note', async () => {
    await start({ adapter: fakeAdapter(['extension', 'turn-start'], { liveness: 'connection' }) });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const extension = await session.open('hello', { source: 'startup' });
    expect(await extension.next()).to.include({ event: 'welcome' });
    extension.send({ op: 'prompt' });
    const { seq } = await rig.say(board, 'the first');
    await rig.seen(seat, seq);
    expect((await session.hook('turn_start'))['bundle']).to.contain('the first');
    disk.broken = true;
    extension.send({ op: 'turn_end' });
    await until(() => rig.logged('journal_error').length > 0, 'it could not note the receipt');
    disk.broken = false;
    clock.pass(2_000);
    await rig.acked(seat, seq);
    await rig.say(board, 'the second');
    expect((await extension.next())['bundle'])
      .to.contain('the second')
      .and.not.contain('the first');
  });

  it('takes what it could not note back, and hands it again once it can', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    await rig.say(board, 'the first');
    const { handoff_id } = await hook.next();
    disk.broken = true;
    hook.send({ op: 'received', handoff_id });
    expect(errorOf(await hook.next())).to.equal('internal');
    disk.broken = false;
    const again = await session.wait();
    clock.pass(2_000);
    expect((await again.next())['bundle']).to.contain('the first');
  });

  it('notes a receipt that an extension says again once it can', async () => {
    await start({ adapter: fakeAdapter(['extension', 'turn-start'], { liveness: 'connection' }) });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const extension = await session.open('hello', { source: 'startup' });
    expect(await extension.next()).to.include({ event: 'welcome' });
    const { seq } = await rig.say(board, 'the first');
    const { handoff_id } = await extension.next();
    disk.broken = true;
    extension.send({ op: 'received', handoff_id });
    expect(errorOf(await extension.next())).to.equal('internal');
    disk.broken = false;
    await extension.end();
    const again = await session.open('hello', { source: 'startup', resumed: true });
    expect(await again.next()).to.include({ event: 'welcome' });
    again.send({ op: 'received', handoff_id });
    await rig.acked(seat, seq);
  });

  it('takes a session for idle whose turn it could not continue', async () => {
    await start({ adapter: fakeAdapter(['idle-hook', 'turn-start', 'turn-end-hook']) });
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    const { seq } = await rig.say(board, 'on it goes');
    await rig.seen(seat, seq);
    disk.broken = true;
    expect(errorOf(await session.hook('turn_end'))).to.equal('internal');
    expect(((await rig.ask('status'))['sessions'] as { turn: string }[])[0]!.turn).to.equal('idle');
  });

  it('makes good what servers told meanwhile, once it can, without being told again', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    const { seq } = await rig.say(board, 'read elsewhere');
    await rig.seen(seat, seq);
    const hook = await session.wait().catch(() => null);
    expect(hook).to.not.equal(null);
    const carry = await hook!.next();
    await hook!.end();
    await until(() => rig.states()[0] === 'pending', `nobody took ${carry['handoff_id']}`);
    const waiting = await session.wait();
    disk.broken = true;
    const token = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    const acked = await fetch(`${server.url}/v1/me/inbox/ack`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ up_to: seq }),
    });
    expect(acked.status).to.equal(200);
    const later = await rig.say(board, 'while it was broken');
    await rig.seen(seat, later.seq);
    disk.broken = false;
    await until(() => {
      clock.pass(1_000);
      return waiting.frames.some(
        ({ event, bundle }) => event === 'deliver' && String(bundle).includes('while it was broken'),
      );
    }, 'it is handed');
    await until(() => rig.row(seat).cursor >= seq, 'the cursor is known');
  });

  it('ends a seat that ended meanwhile, and tells its session', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    disk.broken = true;
    await server.dana.ok('removeMember', { params: { board, member: seat.name } });
    await until(() => rig.machine.credentials.token(seat.origin, seat.member_id) === null, 'its token is dropped');
    disk.broken = false;
    await until(() => {
      clock.pass(1_000);
      return rig.row(seat).problem === 'agent_removed';
    }, 'its end is noted');
    expect((await session.hook('turn_start'))['nudge']).to.contain(`you are no longer on ${board}`);
  });

  it('ends a seat whole whose end it could note only in part', async () => {
    await start();
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    const { dropReceived } = rig.journal;
    Object.assign(rig.journal, { dropReceived: full });
    await server.dana.ok('removeMember', { params: { board, member: seat.name } });
    await until(() => rig.logged('journal_error').length > 0, 'it could not be noted');
    Object.assign(rig.journal, { dropReceived });
    await until(() => {
      clock.pass(1_000);
      return rig.logged('seat_ended').length > 0;
    }, 'its end is noted');
    expect(rig.row(seat).problem).to.equal('agent_removed');
    expect((await session.hook('turn_start'))['nudge']).to.contain(`you are no longer on ${board}`);
  });

  it('lives on when a program is gone or an extension lost, and closes their sessions once it can', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await start();
    const gone = await rig.session(undefined, { process: processRef(child.pid!)! });
    disk.broken = true;
    child.kill('SIGKILL');
    await once(child, 'exit');
    for (let n = 0; n < 3; n++) {
      clock.pass(5_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    disk.broken = false;
    await until(() => {
      clock.pass(5_000);
      return !rig.isOpen(gone);
    }, 'it is closed');
    await rig.restart({
      clock,
      journal: (journal) => disk.of(journal),
      adapter: fakeAdapter(['extension'], { liveness: 'connection' }),
    });
    const session = await rig.session();
    const hello = await session.open('hello', { source: 'startup' });
    expect(await hello.next()).to.include({ event: 'welcome' });
    disk.broken = true;
    await hello.end();
    for (let n = 0; n < 3; n++) {
      clock.pass(6_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    disk.broken = false;
    await until(() => {
      clock.pass(6_000);
      return !rig.isOpen(session);
    }, 'its session is closed');
  });

  it('finishes notices that were acknowledged meanwhile', async () => {
    const s = await scene(server);
    await rig.machine.knows(server.url, (await server.nobody.ok('getInfo')).server_id, s.ana);
    await start();
    const seat = await rig.machine.holds(server.url, s.board, s.agent);
    const one = await rig.session(seat);
    const approval = await held(s.agent, addBob(s));
    const hook = await one.wait();
    await decline(s.ana, approval);
    const carry = await hook.next();
    await took(hook, carry);
    await one.hook('turn_start', { wake: true, handoff_id: carry['handoff_id'] });
    // It can note the receipt, and then nothing more.
    const link = rig.servers.at(server.url);
    const ack = link.ackNotices.bind(link);
    link.ackNotices = async (...args) => {
      await ack(...args);
      disk.broken = true;
    };
    await one.hook('boundary');
    await until(() => disk.broken, 'they are acknowledged');
    await new Promise((resolve) => setImmediate(resolve));
    link.ackNotices = ack;
    disk.broken = false;
    await until(() => {
      clock.pass(5_000);
      return rig.states().every((state) => state === 'done');
    }, 'the handoff is done');
    await post(s.ana, s.board.name, 'on it goes', { to: [`@${s.agent.name}`] });
    const again = await one.wait();
    clock.pass(2_000);
    expect((await again.next())['bundle'])
      .to.contain('on it goes')
      .and.not.contain(approval.id);
  });

  it('lives on when it cannot even be read while nothing happens', async () => {
    await start();
    const { seat } = await rig.seat();
    const session = await rig.session(seat);
    await session.ask('end');
    Object.assign(rig.journal, { sessions: full, noticesIn: full });
    for (let n = 0; n < 3; n++) {
      clock.pass(3_600_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await rig.ask('status')).to.have.property('pid');
  });
});
