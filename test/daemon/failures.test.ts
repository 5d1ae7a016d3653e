/** What goes wrong around the daemon, and what has to come of it. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import type { FaultPoint } from '../../src/daemon/faults.ts';
import { JournalError } from '../../src/daemon/journal/journal.ts';
import type { PortDeps } from '../../src/daemon/ports.ts';
import type { SeatRef } from '../../src/daemon/refs.ts';
import { Reports } from '../../src/daemon/reports/reports.ts';
import { credentialsPath, updateCredentials } from '../../src/local/keys/credentials.ts';
import { newAgent, post } from '../support/cast.ts';
import { copyFolder } from '../support/copy-folder.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { anInbox, fromOwner } from '../support/messages.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { errorOf } from './support/error-of.ts';
import { fakeAdapter, KeptReports } from './support/parts.ts';
import { type Rig, took } from './support/rig.ts';
import { withProxy } from './support/rigged.ts';
import type { StepClock } from './support/step-clock.ts';

/** An answer of a server that cannot just now. */
const unavailable = { status: 503, retryAfter: 1 };

describe('the daemon, where something fails', () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let rig: Rig;
  let clock: StepClock;
  /** Throws as a full disk does, at the points a test names. */
  let broken: Set<FaultPoint>;

  withProxy(async (made) => {
    ({ server, proxy, rig, clock } = made);
    broken = new Set();
    const at = (point: FaultPoint) => {
      if (broken.has(point)) throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    };
    await rig.start({ clock, faults: { at } });
  });

  const save = ({ member_id: id }: SeatRef, token: string) =>
    updateCredentials(rig.machine.folders, (saved) => {
      saved.servers[rig.origin]!.seats[id]!.token = token;
    });

  it('journal unwritable: nothing is handed, it says so, and hands it later', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    broken.add('hand.prepare');
    await rig.say(board, 'hello');
    await until(() => rig.row(seat).problem === 'handoff_failed', 'it failed');
    expect(hook.more).to.equal(false);
    expect(rig.states()).to.deep.equal([]);
    broken.clear();
    clock.pass(2_500);
    expect((await hook.next())['bundle']).to.contain('hello');
    expect(rig.row(seat).problem).to.equal(null);
  });

  it('a failed delivery is a problem no more where its message was given with the next turn', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await session.wait();
    broken.add('hand.prepare');
    const { seq } = await rig.say(board, 'hello');
    await until(() => rig.row(seat).problem === 'handoff_failed', 'it failed');
    broken.clear();
    expect((await session.hook('turn_start'))['bundle']).to.contain('hello');
    await session.hook('boundary');
    await rig.acked(seat, seq);
    await until(() => rig.row(seat).problem === null, 'it is over');
  });

  it('a journal that takes nothing at all is named by status too', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { journal } = rig;
    const { saveSeat, saveManifest } = journal;
    const full = () => {
      throw new JournalError('disk full');
    };
    await until(() => rig.read(seat) !== undefined, 'the seat was read');
    Object.assign(journal, { saveSeat: full, saveManifest: full });
    await rig.say(board, 'hello');
    const problems = async () => ((await rig.ask('status')) as { agents?: { problem: string }[] }).agents ?? [];
    await until(async () => (await problems()).length === 1, 'it says so');
    expect((await problems())[0]).to.include({ problem: 'handoff_failed' });
    Object.assign(journal, { saveSeat, saveManifest });
    clock.pass(2_500);
    expect((await hook.next())['bundle']).to.contain('hello');
    expect(await problems()).to.deep.equal([]);
  });

  it('a receipt that cannot be saved does not count, and nothing is acknowledged', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    const { seq } = await rig.say(board, 'hello');
    const carry = await hook.next();
    broken.add('accept.received');
    expect(errorOf(await hook.send({ op: 'received', handoff_id: carry['handoff_id'] }).next())).to.equal('internal');
    broken.clear();
    expect(rig.states()).to.deep.equal(['pending']);
    expect(await rig.cursor(seat)).to.be.below(seq);
    const start = await session.hook('turn_start');
    expect(start['bundle']).to.contain('hello');
  });

  it('evidence that cannot be written is asked for again by the next event', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    await session.hook('turn_start');
    broken.add('confirm.evidence');
    expect(errorOf(await session.hook('boundary'))).to.equal('internal');
    expect(await rig.cursor(seat)).to.be.below(seq);
    broken.clear();
    await session.hook('boundary');
    await rig.acked(seat, seq);
  });

  for (const point of ['hand.exposed', 'accept.received', 'accept.recorded', 'confirm.evidence'] as const) {
    it(`what a program took into its queue, and ${point} could not be noted, is not lost and ends nothing`, async () => {
      const adapter = fakeAdapter(['queue']);
      const at = (passed: FaultPoint) => {
        if (broken.has(passed)) throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
      };
      await rig.restart({ clock, adapter, faults: { at } });
      const { seat, board } = await rig.seat();
      await rig.session(seat);
      broken.add(point);
      const { seq } = await rig.say(board, 'into the queue');
      await until(() => adapter.given.length === 1, 'it was given');
      const ends = () => [...rig.logged('handoff_pending'), ...rig.logged('handoff_confirmed')];
      await until(() => ends().length > 0, 'it came to an end');
      // Not again at once, as long as the disk is full.
      clock.pass(1_000);
      expect(adapter.given).to.have.length(1);
      broken.clear();
      clock.pass(10_000);
      await rig.acked(seat, seq);
      expect(adapter.given.length).to.be.within(1, 2);
      expect(await rig.ask('status')).to.have.property('pid');
    });
  }

  it('a failed acknowledgement is repeated alone; nothing is handed again', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    await session.hook('turn_start');
    proxy.fail('POST /v1/me/inbox/ack', unavailable, 2);
    await session.hook('boundary');
    const hook = await session.wait();
    await until(async () => {
      clock.pass(5_000);
      return (await rig.cursor(seat)) >= seq;
    }, 'it was acknowledged');
    expect(hook.more).to.equal(false);
    const { metrics } = (await rig.ask('status')) as { metrics: Record<string, number> };
    expect(metrics['handed']).to.equal(1);
  });

  it('a server that is away costs nothing: on its return all of it comes once', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    await rig.connected();
    await proxy.down();
    await rig.say(board, 'while it was away');
    await proxy.listen();
    const passing = setInterval(() => rig.machine.pauses().length > 0 && void rig.machine.pass(), 5);
    const { bundle } = await hook.next().finally(() => clearInterval(passing));
    expect(bundle).to.contain('while it was away');
  });

  it('a wake whose own read of the inbox fails happens once the read works, though nothing else does', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    await session.hook('turn_start');
    const { seq } = await rig.say(board, 'during the turn');
    await rig.seen(seat, seq);
    proxy.fail('GET /v1/me/inbox', unavailable, 1);
    const hook = await session.wait();
    await until(() => proxy.broken === 1, 'the read has failed');
    await rig.machine.pass((ms) => ms === 1_000);
    expect((await hook.next())['bundle']).to.contain('during the turn');
  });

  it('an inbox that took long to read wakes its session without being read once more', async () => {
    const { seat, board, boardId } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    const hook = await session.wait();
    clock.pass(5_000);
    proxy.fail('GET /v1/me/inbox', unavailable);
    const { name: agent, member_id } = seat;
    const inbox = anInbox([fromOwner(100)], { board, board_id: boardId, agent, member_id });
    const atUs = clock.nowUs();
    rig.serverEvents.emit('inbox', seat, { inbox, completeUpTo: null, sentUs: atUs - 4_000_000, atUs });
    expect((await hook.next())['bundle']).to.contain('Text 100');
  });

  it('tool calls and prompts ask no server that is unreachable, whose inbox comes once it is back', async () => {
    proxy.fail(() => true, unavailable);
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    for (let at = 0; rig.row(seat).problem !== 'server_unreachable'; at++) {
      expect(at).to.be.below(10);
      await rig.machine.pass();
    }
    await until(() => rig.machine.pauses().length === 3, 'its stream, inbox and notices back off');
    const asked = proxy.seen.length;
    await session.hook('turn_start');
    await session.hook('boundary');
    await session.hook('turn_end');
    expect(proxy.seen.length).to.equal(asked);
    const hook = await session.wait();
    await rig.say(board, 'while it was away');
    proxy.heal();
    const passing = setInterval(() => rig.machine.pauses().length > 0 && void rig.machine.pass(), 5);
    const { bundle } = await hook.next().finally(() => clearInterval(passing));
    expect(bundle).to.contain('while it was away');
  });

  it('a tool call reads no inbox because another seat of its session has ended', async () => {
    const one = await rig.seat();
    const two = await rig.seat();
    const session = await rig.session(one.seat);
    await session.bind(two.seat);
    await rig.connected();
    await server.dana.ok('removeMember', { params: { board: one.board, member: one.seat.name } });
    await until(() => rig.row(one.seat).problem === 'agent_removed', 'it has ended');
    await session.hook('turn_start');
    await session.hook('boundary');
    const asked = proxy.count('GET /v1/me/inbox');
    await session.hook('boundary');
    expect(proxy.count('GET /v1/me/inbox')).to.equal(asked);
  });

  it('agent removed: its seat ends alone, its sibling goes on, and the session is told once', async () => {
    const one = await rig.seat();
    const two = await rig.seat();
    const session = await rig.session(one.seat);
    await session.bind(two.seat);
    await server.dana.ok('removeMember', { params: { board: one.board, member: one.seat.name } });
    await until(() => rig.row(one.seat).problem === 'agent_removed', 'it has ended');
    const { seq } = await rig.say(two.board, 'for the other');
    const start = await session.hook('turn_start');
    expect(start['nudge']).to.contain(`service: you are no longer on ${one.board}`);
    expect(start['bundle']).to.contain('for the other');
    await session.hook('boundary');
    await rig.acked(two.seat, seq);
    const next = await session.hook('turn_start');
    expect(String(next['nudge'])).to.not.contain('no longer');
    const { agents } = (await rig.ask('status')) as { agents: { problem: string }[] };
    expect(agents.map(({ problem }) => problem)).to.deep.equal(['agent_removed']);
  });

  it('one agent token replaced elsewhere: `unauthorized` until the new one is here, which acknowledges with what is known', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const right = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    const { seq } = await rig.say(board, 'hello');
    await session.hook('turn_start');
    proxy.fail('POST /v1/me/inbox/ack', unavailable);
    await session.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    const { generation } = rig.row(seat);
    await save(seat, `aba_${'x'.repeat(43)}`);
    proxy.heal();
    await until(() => {
      clock.pass(5_000);
      return rig.row(seat).problem === 'unauthorized';
    }, 'it is refused');
    expect(rig.row(seat).generation).to.be.above(generation);
    await save(seat, right);
    await rig.acked(seat, seq);
    expect(rig.row(seat).problem).to.equal(null);
    const hook = await session.wait();
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
  });

  it('a turn that begins while a stop hook waits for a slow server is running', async () => {
    const adapter = fakeAdapter(['queue', 'turn-end-hook', 'turn-start', 'tool-boundary']);
    await rig.restart({ clock, adapter });
    const { seat } = await rig.seat();
    const session = await rig.session(seat);
    await session.hook('turn_start');
    await rig.connected();
    await until(() => rig.read(seat) !== undefined, 'the seat was read');
    proxy.fail('GET /v1/me/inbox', 'hold');
    const stopped = await session.open('turn_end', { started: clock.nowUs() });
    await until(() => proxy.held > 0, 'the hook waits');
    await session.ask('prompt', { started: clock.nowUs() });
    proxy.heal();
    expect(await stopped.next()).to.deep.equal({ v: 1 });
    expect((await session.ask('agents'))['turn']).to.equal('busy');
  });

  it('a token that comes back while no daemon runs lets the seat go on', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const right = rig.machine.credentials.token(seat.origin, seat.member_id)!;
    await rig.connected();
    await save(seat, `aba_${'x'.repeat(43)}`);
    await rig.say(board, 'hello');
    await until(() => rig.row(seat).problem === 'unauthorized', 'it is refused');
    await rig.daemon.stop(false);
    await save(seat, right);
    await rig.start({ clock });
    const hook = await session.wait();
    expect((await hook.next())['bundle']).to.contain('hello');
    expect(rig.row(seat).problem).to.equal(null);
  });

  it('agent removed: the next daemon says so too', async () => {
    const { seat, board } = await rig.seat();
    await rig.session(seat);
    await rig.connected();
    await server.dana.ok('removeMember', { params: { board, member: seat.name } });
    await until(() => rig.machine.credentials.token(seat.origin, seat.member_id) === null, 'its token is dropped');
    await rig.restart({ clock });
    await rig.session((await rig.seat()).seat);
    await rig.connected();
    expect(rig.row(seat).problem).to.equal('agent_removed');
  });

  it('what is wrong with a seat is reported again when another session binds it', async () => {
    const refused = await rig.seat();
    const gone = await rig.seat();
    const both = async (when: string) => {
      const session = await rig.session(refused.seat);
      await session.bind(gone.seat);
      return until(
        () => rig.row(refused.seat).problem === 'unauthorized' && rig.row(gone.seat).problem === 'board_gone',
        when,
      );
    };
    await rig.session(refused.seat);
    await save(refused.seat, `aba_${'x'.repeat(43)}`);
    await server.dana.ok('archiveBoard', { params: { board: gone.boardId } });
    await server.dana.ok('deleteBoard', { params: { board: gone.boardId } });
    await both('both have a problem');
    await both('the next session has it too');
  });

  const withBoardGone = async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.connected();
    proxy.fail('GET /v1/me/inbox', { status: 404, code: 'board_not_found' });
    await rig.say(board, 'hello');
    await until(() => rig.row(seat).problem === 'board_gone', 'it is gone');
    return { seat, session };
  };

  it('a board that is back while no daemon runs lets its seat go on', async () => {
    const { seat, session } = await withBoardGone();
    await rig.daemon.stop(false);
    proxy.heal();
    await rig.start({ clock });
    const hook = await session.wait();
    expect((await hook.next())['bundle']).to.contain('hello');
    expect(rig.row(seat).problem).to.equal(null);
  });

  it('a board that is back while no daemon runs lets a seat go on whose session had ended, too', async () => {
    const { seat, session } = await withBoardGone();
    await session.ask('end');
    await rig.daemon.stop(false);
    proxy.heal();
    await rig.start({ clock });
    expect(rig.row(seat).problem).to.equal(null);
    await session.ask('register', { source: 'resume' });
    const hook = await session.wait();
    expect((await hook.next())['bundle']).to.contain('hello');
  });

  it('a server that comes back while no daemon runs is unreachable no more', async () => {
    const { seat } = await rig.seat();
    await rig.session(seat);
    await rig.connected();
    await proxy.down();
    await until(() => {
      if (rig.machine.pauses().length > 0) void rig.machine.pass();
      return rig.row(seat).problem === 'server_unreachable';
    }, 'it is unreachable');
    await rig.daemon.stop(false);
    await proxy.listen();
    await rig.start({ clock });
    await until(() => rig.row(seat).problem === null, 'it is reachable again');
  });

  describe('a server that was restored from a backup', () => {
    let restored: TestServer;
    /** Puts the server back to what it is now, and undoes what `work` does. */
    const losing = async (work: () => Promise<unknown>) => {
      await server.close();
      const backup = mkdtempSync(join(tmpdir(), 'board-backup-'));
      copyFolder(server.dataDir, backup);
      await server.restart();
      await passing(rig.connected());
      await passing(work());
      restored = await startTestServer('sqlite', { like: backup });
      rmSync(backup, { recursive: true });
      proxy.retarget(restored.url);
      await proxy.down();
      await proxy.listen();
    };
    afterEach(() => restored.stop());

    /** Reads and pauses go on. */
    const passing = async <T>(work: Promise<T>): Promise<T> => {
      const short = (ms: number) => ms <= 60_000;
      const timer = setInterval(() => rig.machine.pauses().some(short) && void rig.machine.pass(short), 5);
      return work.finally(() => clearInterval(timer));
    };

    for (const feed of ['stream', 'poll'] as const) {
      it(`delivers what is posted then, though its numbers were used before, by ${feed}`, async () => {
        const { server_id } = await server.nobody.ok('getInfo');
        if (feed === 'poll') await rig.machine.knows(rig.origin, server_id, null);
        const { seat, board } = await rig.seat();
        const session = await rig.session(seat);
        await losing(async () => {
          for (const body of ['lost', 'lost too', 'and this']) {
            const { seq } = await rig.say(board, body);
            await rig.seen(seat, seq);
            await session.hook('turn_start');
            await session.hook('boundary');
            await rig.acked(seat, seq);
          }
        });
        const hook = await session.wait();
        const { seq } = await post(restored.dana, board, 'after the restore');
        const carry = await passing(hook.next());
        expect(carry['bundle']).to.contain('after the restore').and.not.contain('lost');
        await took(hook, carry);
        await session.hook('boundary');
        await until(() => rig.states().at(-1) === 'done', 'it is acknowledged');
        expect(rig.row(seat).cursor).to.equal(seq);
      });
    }

    it('delivers what is posted then to a seat whose mode was set meanwhile', async () => {
      const { seat, board } = await rig.seat();
      const session = await rig.session(seat);
      await losing(async () => {
        const { seq } = await rig.say(board, 'lost');
        await rig.seen(seat, seq);
        await session.hook('turn_start');
        await session.hook('boundary');
        await rig.acked(seat, seq);
      });
      const params = { board, member: seat.name };
      await restored.dana.ok('setDeliveryMode', { params, body: { mode: 'all' } });
      const hook = await session.wait();
      await post(restored.dana, board, 'after the restore');
      expect((await passing(hook.next()))['bundle'])
        .to.contain('after the restore')
        .and.not.contain('lost');
    });

    it('is not asked again and again for what a session received and it does not have', async () => {
      const { seat, board } = await rig.seat();
      const session = await rig.session(seat);
      await losing(async () => {
        await rig.say(board, 'lost');
        await session.hook('turn_start');
        proxy.fail('POST /v1/me/inbox/ack', unavailable);
        await session.hook('boundary');
        await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
      });
      proxy.heal();
      await passing(until(() => rig.read(seat)?.messages.length === 0, 'it is read'));
      clock.pass(60_000);
      const asked = proxy.count('GET /v1/me/inbox');
      for (let times = 0; times < 100; times++) await rig.ask('status');
      expect(proxy.count('GET /v1/me/inbox') - asked).to.be.at.most(2);
    });

    it('has its modes again, and announces anew what has the numbers of what is lost', async () => {
      const { seat, board } = await rig.seat();
      const session = await rig.session(seat);
      const lost = await newAgent(server.dana, board);
      await losing(async () => {
        await session.hook('turn_start');
        for (const body of ['one', 'two', 'three', 'four']) await rig.seen(seat, (await post(lost, board, body)).seq);
        expect((await session.hook('boundary'))['notice']).to.contain('4 waiting');
        await session.hook('turn_start');
        await session.hook('boundary');
        await until(() => rig.states().at(-1) === 'done', 'they are acknowledged');
        const params = { board, member: seat.name };
        await server.dana.ok('setDeliveryMode', { params, body: { mode: 'off' } });
        await passing(until(() => rig.row(seat).mode === 'off', 'the mode is off'));
      });
      const agent = await newAgent(restored.dana, board);
      await passing(until(() => rig.row(seat).mode === 'focused', 'the mode is as it was'));
      const { seq } = await post(agent, board, 'after the restore');
      await passing(rig.hasRead(seat, 1));
      expect((await session.hook('boundary'))['notice']).to.contain(`#${seq} from`);
    });

    it('has the mode again that a seat had when it had read as much as now, and is told so', async () => {
      const ports = ({ log, journal }: PortDeps) => ({
        reports: new Reports({ servers: { at: (url) => rig.servers.at(url) }, clock, log, journal }),
      });
      await rig.restart({ clock, ports });
      const { seat, board } = await rig.seat();
      await rig.session(seat);
      const params = { board, member: seat.name };
      const isApplied = (mode: string, { dana }: TestServer) =>
        until(async () => {
          clock.pass(1_000);
          return (await dana.ok('getMember', { params })).delivery === mode;
        }, `${mode} is applied`);
      await isApplied('focused', server);
      await losing(async () => {
        await server.dana.ok('setDeliveryMode', { params, body: { mode: 'off' } });
        await isApplied('off', server);
      });
      await passing(isApplied('focused', restored));
    });

    it('is told nothing of numbers that it has given anew, until its inbox is read', async () => {
      const { seat, board } = await rig.seat();
      const session = await rig.session(seat);
      let received = 0;
      await losing(async () => {
        received = (await rig.say(board, 'lost')).seq;
        await rig.seen(seat, received);
        await session.hook('turn_start');
        proxy.fail('POST /v1/me/inbox/ack', unavailable);
        await session.hook('boundary');
        await proxy.reached('POST /v1/me/inbox/ack', 1);
        proxy.fail('GET /v1/', unavailable);
      });
      const hook = await session.wait();
      const { seq } = await post(restored.dana, board, 'after the restore');
      expect(seq).to.equal(received);
      proxy.heal();
      proxy.fail('GET /v1/', unavailable);
      const before = proxy.seen.length;
      clock.pass(60_000);
      await until(() => proxy.seen.length > before, 'it asks');
      proxy.heal();
      expect((await passing(hook.next()))['bundle']).to.contain('after the restore');
    });
  });

  it('journal corrupt: put aside, a fresh one goes on, sessions register again, cursors come from the server, logged once', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'acknowledged before');
    await session.hook('turn_start');
    await session.hook('boundary');
    await rig.acked(seat, seq);
    await rig.daemon.stop(false);
    writeFileSync(rig.paths.journal, 'this is no database at all, and long enough to be looked at'.repeat(100));
    await rig.start({ clock });
    expect(readdirSync(rig.paths.state).some((name) => name.startsWith('delivery.db.corrupt-'))).to.equal(true);
    expect(errorOf(await session.ask('agents'))).to.equal('session_unknown');
    await session.ask('register', { source: 'resume' });
    await session.bind(seat);
    const hook = await session.wait();
    await rig.say(board, 'from the server as ever');
    expect((await hook.next())['bundle'])
      .to.contain('from the server as ever')
      .and.not.contain('acknowledged before');
    await hook.end();
    const log = readFileSync(rig.logFile, 'utf8');
    expect(log.match(/"put_aside":true/g)).to.have.length(1);
    await rig.restart({ clock });
    expect(readFileSync(rig.logFile, 'utf8').match(/"put_aside":true/g)).to.have.length(1);
  });

  it('journal corrupt in its middle, its end or its log: a start uses it or puts it aside, and what is unread comes', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    for (let n = 0; n < 12; n++) {
      const { seq } = await rig.say(board, `unread ${n}.`);
      await rig.daemon.stop(true);
      const bytes = readFileSync(rig.paths.journal);
      const at = [100, 4_096 + 7, Math.floor(bytes.length / 2), bytes.length - 200][n % 4]!;
      if (n % 3 === 0) bytes.fill(0xa5, at, Math.min(bytes.length, at + 300));
      if (n % 3 === 1) writeFileSync(`${rig.paths.journal}-wal`, Buffer.alloc(8_240, 0x37));
      writeFileSync(rig.paths.journal, n % 3 === 2 ? bytes.subarray(0, Math.max(700, at)) : bytes);
      await rig.start({ clock });
      await session.ask('register', { source: 'resume', boot: (n + 1).toString(16).padStart(16, 'f') });
      session.header = { ...session.header, boot: (n + 1).toString(16).padStart(16, 'f') };
      await session.bind(seat);
      const start = await session.hook('turn_start');
      expect(start['bundle'], `after damage ${n}`).to.contain(`unread ${n}.`);
      await session.hook('boundary');
      await rig.acked(seat, seq);
    }
  });

  it('journal corrupt in one byte, wherever it names an agent or says what it is: what is unread comes', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    await rig.say(board, 'unread.');
    const hook = await session.wait();
    await hook.next();
    await hook.end();
    await rig.daemon.stop(true);
    const whole = readFileSync(rig.paths.journal);
    const named: number[] = [];
    for (let at = whole.indexOf(seat.member_id); at !== -1; at = whole.indexOf(seat.member_id, at + 1)) named.push(at);
    expect(named.length).to.be.greaterThan(5);
    // Of the header, the version for writing, the format of the schema, the sign of its version, and that version, which
    // becomes each lower one: a higher one is that of a newer program.
    const version = whole[63]!;
    const lower = Array.from({ length: version }, (_, of) => [63, version ^ of] as const);
    const header = [[18, 1], [47, 1], [60, 0x80], ...lower] as const;
    for (const [n, [at, bits]] of [...header, ...named.map((start) => [start + 6, 1] as const)].entries()) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= bits;
      writeFileSync(rig.paths.journal, damaged);
      await rig.start({ clock });
      const boot = n.toString(16).padStart(16, 'f');
      session.header = { ...session.header, boot };
      await session.ask('register', { source: 'resume' });
      await session.bind(seat);
      expect((await session.hook('turn_start'))['bundle'], `after damage at ${at}`).to.contain('unread.');
      await rig.daemon.stop(true);
    }
    await rig.start({ clock });
  });

  it('a journal of a newer program is left alone', async () => {
    await rig.daemon.stop(false);
    const db = new Sqlite(rig.paths.journal);
    db.pragma('user_version = 99');
    db.close();
    const before = readFileSync(rig.paths.journal);
    const code = await rig.start({ clock }).catch((error: { code: string }) => error.code);
    expect(code).to.equal('data_newer');
    expect(readFileSync(rig.paths.journal).equals(before)).to.equal(true);
    writeFileSync(rig.paths.journal, '');
    await rig.start({ clock });
  });

  it('a connection that does not end keeps the daemon from no stop', async () => {
    const reports = Object.assign(new KeptReports(), { close: () => new Promise<never>(() => {}) });
    await rig.restart({ clock, ports: () => ({ reports }) });
    let stopped = false;
    void rig.daemon.stop(false).then(() => {
      stopped = true;
    });
    await until(() => {
      clock.pass(1_000);
      return stopped;
    }, 'it has stopped');
    expect(existsSync(rig.paths.info)).to.equal(false);
  });

  it('credentials file unreadable or wrong mode: no requests, `credentials_unsafe`', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const hook = await session.wait();
    chmodSync(credentialsPath(rig.machine.folders), 0o644);
    await rig.say(board, 'hello');
    const asked = proxy.count('GET /v1/me/inbox');
    clock.pass(3_000);
    expect(() => rig.machine.credentials.saved())
      .to.throw()
      .and.include({ code: 'credentials_unsafe' });
    expect(proxy.count('GET /v1/me/inbox')).to.equal(asked);
    expect(hook.more).to.equal(false);
    chmodSync(credentialsPath(rig.machine.folders), 0o600);
  });

  it('session ends before confirming: pending, for the next session of that seat', async () => {
    const { seat, board } = await rig.seat();
    const first = await rig.session(seat);
    const hook = await first.wait();
    const { seq } = await rig.say(board, 'hello');
    await took(hook, await hook.next());
    await first.ask('end');
    const second = await rig.session(seat);
    const start = await second.hook('turn_start');
    expect(start['bundle']).to.contain('hello');
    await second.hook('boundary');
    await rig.acked(seat, seq);
  });

  it('a start never gives again what was confirmed, and acknowledges it', async () => {
    const { seat, board } = await rig.seat();
    const session = await rig.session(seat);
    const { seq } = await rig.say(board, 'hello');
    await session.hook('turn_start');
    proxy.fail('POST /v1/me/inbox/ack', unavailable, 50);
    await session.hook('boundary');
    await until(() => rig.states()[0] === 'confirmed', 'it is confirmed');
    await rig.daemon.stop(false);
    proxy.heal();
    await rig.start({ clock });
    await rig.acked(seat, seq);
    await until(() => rig.states()[0] === 'done', 'it is done');
    const hook = await session.wait();
    clock.pass(2_000);
    expect(hook.more).to.equal(false);
  });
});
