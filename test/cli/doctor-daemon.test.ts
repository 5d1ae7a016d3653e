/** What `service doctor` finds of the daemon, its files and what it could not deliver: made so, named, and mended by its own lines. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { folders } from '../../src/local/folders.ts';
import { DaemonProcess } from '../daemon/support/process.ts';
import { ScriptedDaemon } from '../daemon/support/scripted-daemon.ts';
import type { Machine } from '../daemon/world.ts';
import { DoctorMachine, type Finding, isWrong } from './support/doctor/machine.ts';
import { finished, until } from './support/home.ts';
import { PlayedSession } from './support/played.ts';

const sandbox = { CODEX_THREAD_ID: 'one', CODEX_SANDBOX: 'seatbelt' };

describe('service doctor on the daemon', () => {
  let machine: DoctorMachine;
  beforeEach(async () => {
    machine = new DoctorMachine();
    await machine.json(['init', '--yes', '--allow-commands']);
  });
  afterEach(() => machine.close());
  const quiet = async () => expect(await machine.codes()).to.deep.equal([]);
  /** A daemon of an earlier version on the machine's files. */
  const older = () =>
    DaemonProcess.start({ home: machine.store, folders: folders({ SERVICE_HOME: machine.store }) } as Machine);

  it('names one that does not run, also from a sandbox, where none is started', async () => {
    const { fix } = await machine.names('daemon_not_running', 'warning');
    const inside = await machine.names('daemon_in_sandbox', 'warning', sandbox);
    expect(inside.message).to.include('sandbox');
    await machine.mend(inside.fix);
    expect(await machine.codes(sandbox)).to.deep.equal([]);
    await machine.json(['daemon', 'stop']);
    await machine.mend(fix);
    await quiet();
  });

  it('names an older one, which the next command that may replaces, as its log says', async () => {
    const first = await older();
    const { fix } = await machine.names('daemon_outdated', 'warning');
    await machine.mend(fix);
    await quiet();
    expect(await first.ended()).to.equal(0);
    await machine.json(['daemon', 'stop']);
    await older();
    expect((await machine.json(['daemon', 'start'])).started).to.equal(true);
    const log = readFileSync(machine.path('state', 'daemon.log'), 'utf8').trim().split('\n');
    const replaced = log.map((line) => JSON.parse(line)).filter(({ ev }) => ev === 'upgrade_replaced');
    expect(replaced).to.have.length(1);
    expect(replaced[0]).to.include({ from_version: '0.0.1', version: (await machine.json(['version'])).version });
    await quiet();
  });

  it('names one that hangs, with the line that ends it and starts another', async () => {
    const { pid } = await machine.json(['daemon', 'start']);
    process.kill(pid, 'SIGSTOP');
    const { fix } = await machine.names('request_timeout', 'error');
    await machine.mend(fix);
    expect((await machine.json(['daemon', 'status'])).pid).to.not.equal(pid);
    await quiet();
  });

  it('names what others could open', async () => {
    await machine.json(['daemon', 'start']);
    chmodSync(machine.path('state', 'daemon.sock'), 0o666);
    const socket = await machine.names('socket_unsafe', 'error');
    await machine.mend(socket.fix);
    await quiet();
    await machine.json(['board', 'create', 'demo']);
    chmodSync(machine.path('config', 'credentials.json'), 0o644);
    const file = await machine.names('credentials_unsafe', 'error');
    await machine.mend(file.fix);
    await quiet();
  });

  it('names a journal that is damaged, or of a newer program', async () => {
    await machine.json(['daemon', 'start']);
    await machine.json(['daemon', 'stop']);
    const path = machine.path('state', 'delivery.db');
    writeFileSync(path, 'no database '.repeat(1_000));
    const damaged = await machine.names('journal_unwritable', 'error');
    await machine.mend(damaged.fix);
    await quiet();
    await machine.json(['daemon', 'stop']);
    const indexed = new Database(path);
    indexed.unsafeMode();
    indexed.pragma('writable_schema = ON');
    indexed.exec("UPDATE sqlite_schema SET rootpage = rootpage + 1 WHERE name = 'parts_by_seat'");
    indexed.close();
    await machine.mend((await machine.names('journal_unwritable', 'error')).fix);
    await quiet();
    await machine.json(['daemon', 'stop']);
    const bytes = readFileSync(path);
    // In the header, where the format of the schema stands.
    bytes[47]! ^= 1;
    writeFileSync(path, bytes);
    await machine.mend((await machine.names('journal_unwritable', 'error')).fix);
    await quiet();
    await machine.json(['daemon', 'stop']);
    const db = new Database(path);
    const version = db.pragma('user_version', { simple: true });
    db.pragma('user_version = 99');
    db.close();
    const newer = await machine.names('data_newer', 'error');
    await machine.mend(newer.fix);
    // As the newer program would find it.
    expect(machine.has('updated')).to.equal(true);
    const again = new Database(path);
    again.pragma(`user_version = ${version}`);
    again.close();
    await machine.json(['daemon', 'start']);
    await quiet();
  });

  it('names a journal that takes nothing any more, whatever its file looks like', async () => {
    await machine.json(['daemon', 'start']);
    await machine.json(['daemon', 'stop']);
    const db = new Database(machine.path('state', 'delivery.db'));
    db.exec('BEGIN IMMEDIATE');
    const held = await machine.names('journal_unwritable', 'error');
    expect(held.message).to.include('locked');
    db.exec('ROLLBACK');
    db.close();
    await machine.mend(held.fix);
    await machine.json(['daemon', 'start']);
    await quiet();
  });

  if (process.platform === 'linux')
    it('names a journal on a disk that is full', async () => {
      const disk = machine.path('state');
      const fill = 'dd if=/dev/zero of="$SERVICE_HOME/state/fill" bs=4k 2>/dev/null';
      const { stdout, stderr } = await machine.shell(
        `unshare -rm sh -c 'mount -t tmpfs -o size=2m,mode=0700 tmpfs ${disk} && service daemon start -q && service daemon stop -q; ${fill}; service doctor --json; rm "$SERVICE_HOME/state/fill"; service doctor --json'`,
      );
      const [full, room] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).checks as Finding[]);
      const journal = (checks: Finding[]) => checks.find(({ name }) => name === 'journal');
      expect(journal(full!), stderr).to.include({
        code: 'journal_unwritable',
        level: 'error',
        fix: `df -h ${disk}/delivery.db`,
      });
      expect(journal(room!)).to.include({ code: null, level: 'ok' });
    });

  describe('with sessions', () => {
    beforeEach(async () => {
      await machine.serve();
      await machine.json(['daemon', 'start']);
      await machine.json(['board', 'create', 'demo']);
    });
    const codexSession = (id: string) => ({ CODEX_THREAD_ID: id, CODEX_SESSION_ID: id });

    it('names what a program’s queue did not take, and why, until another session has the seat', async () => {
      for (const id of ['broken', 'absent', 'child']) {
        await machine.json(['join', '--board', 'demo', '--name', id], { env: codexSession(id) });
        machine.mark(`codex.fails-${id}`, 'Error: kanarienvogel');
      }
      for (const mark of ['absent-absent', 'child-child']) machine.mark(`codex.${mark}`);
      await machine.json(['board', 'post', 'please look', '--board', 'demo']);
      const codes = ['delivery_attention', 'harness_target_absent', 'harness_subagent_target'];
      await until(
        'all have been given up',
        async () => (await machine.json(['daemon', 'status'])).attention.length === 3,
        60_000,
      );
      expect(await machine.codes()).to.have.members(codes);
      for (const code of codes) {
        const { fix, message } = await machine.names(code, 'error');
        expect(message)
          .to.match(/^\w+ on demo could not be handed its messages: /)
          .and.not.include('kanarienvogel');
        await machine.mend(fix);
        expect(await machine.codes()).to.not.include(code);
      }
      await quiet();
      const log = readFileSync(machine.path('state', 'daemon.log'), 'utf8');
      expect(log).to.not.include('kanarienvogel').and.not.include('please look');
    });

    it('names a session that did not wake, until it is opened again', async () => {
      const session = new PlayedSession(machine, 'sleeps');
      await session.start();
      await session.json(['join', '--board', 'demo', '--name', 'sleeper']);
      // The agent has gone into another folder since, in which its program would not find the conversation.
      await session.hook('prompt', 'UserPromptSubmit', { prompt: 'begin', cwd: machine.dir });
      const woken = finished(session.begin('wait', { hook_event_name: 'Stop', cwd: machine.dir }));
      await until('it waits', async () => (await machine.json(['daemon', 'status'])).sessions[0]?.turn === 'idle');
      await machine.json(['board', 'post', 'please look', '--board', 'demo']);
      expect((await woken).code).to.equal(2);
      await until('it is stalled', async () => (await machine.json(['daemon', 'status'])).stalled.length === 1, 60_000);
      const status = await machine.run(['daemon', 'status']);
      expect(status.stdout).to.match(/^Stalled {4}sleeper on demo: its session did not wake$/m);
      const stalled = await machine.names('delivery_stalled', 'warning');
      expect(stalled.message).to.include('sleeper on demo');
      expect(stalled.fix).to.equal(`cd ${machine.work} && claude --resume sleeps 'Run: service inbox --board demo'`);
      await machine.mend(stalled.fix);
      await quiet();
    });

    it('names a session whose seat is kept for another address of its server now, until it takes it again', async () => {
      const session = new PlayedSession(machine, 'stays');
      await session.start();
      await session.json(['join', '--board', 'demo', '--name', 'codex']);
      await quiet();
      await machine.json(['daemon', 'stop']);
      const [url] = Object.keys(JSON.parse(readFileSync(machine.path('config', 'credentials.json'), 'utf8')).servers);
      // As the journal is once the saved address of a server was changed by hand.
      const journal = new Database(machine.path('state', 'delivery.db'));
      for (const table of ['seats', 'bindings']) journal.exec(`UPDATE ${table} SET origin = 'https://former.example'`);
      journal.close();
      await machine.json(['daemon', 'start']);
      const { fix, message } = await machine.names('server_address_changed', 'error');
      expect(message).to.equal(
        `codex on demo hears nothing: its session has the seat at https://former.example, and the server is at ${url} now.`,
      );
      expect(fix).to.equal(`cd ${machine.work} && claude --resume stays 'Run: service resume codex@demo'`);
      await machine.mend(fix);
      await quiet();
    });

    it('names what a session was given in part, with the line that shows all of it', async () => {
      const session = new PlayedSession(machine, 'one');
      await session.start();
      await session.json(['join', '--board', 'demo', '--name', 'codex']);
      writeFileSync(join(machine.work, 'long.txt'), `${'ü'.repeat(30_000)}\n`);
      await session.woken(() => machine.shell('service board post - --board demo < long.txt'));
      const { fix, message } = await machine.names('delivery_truncated', 'warning');
      expect(message).to.match(/^codex on demo was given #\d+ in part or as one line: it was too long to show\.$/);
      expect((await machine.shell(fix)).stdout).to.include('ü'.repeat(30_000));
    });

    it('names a mode that is not the one that applies', async () => {
      const session = new PlayedSession(machine, 'one');
      await session.start();
      const { agent } = await session.json(['join', '--board', 'demo', '--name', 'codex']);
      const [url] = Object.keys(JSON.parse(readFileSync(machine.path('config', 'credentials.json'), 'utf8')).servers);
      const seats = Object.values(
        JSON.parse(readFileSync(machine.path('config', 'credentials.json'), 'utf8')).servers,
      ) as {
        seats: Record<string, { token: string }>;
      }[];
      await until(
        'it has told its mode',
        async () => (await machine.json(['agent', 'show', 'codex', '-b', 'demo'])).agent.delivery === 'focused',
      );
      await fetch(`${url}/v1/me/presence`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${seats[0]!.seats[agent.id]!.token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ presence: 'idle', delivery: 'off' }),
      });
      const { fix } = await machine.names('delivery_mode_unconfirmed', 'warning');
      await machine.mend(fix);
      await until('it has told it again', async () => !(await machine.codes()).includes('delivery_mode_unconfirmed'));
      await quiet();
    });
  });

  it('says to start a run again whose seat is kept for another address of its server now', async () => {
    await machine.serve();
    await machine.json(['board', 'create', 'demo']);
    await machine.json(['agent', 'create', 'bot', '--board', 'demo']);
    const run = machine.start(['run', '--as', 'bot@demo', '--', 'cat']);
    const held = async () => (await machine.run(['daemon', 'status'])).stdout.includes(': bot on demo');
    await until('it has its seat', held);
    // As after the saved address of a server was changed by hand.
    machine.edit('store/config/credentials.json', (all) => all.replaceAll('//127.0.0.1:', '//localhost:'));
    const found = (await machine.doctor()).find(({ code }) => code === 'server_address_changed');
    expect(found!.message).to.match(/ now\. End its service run and start it again\.$/);
    expect(found!.fix).to.equal(null);
    run.kill('SIGTERM');
    await finished(run);
  });

  it('names a server that it does not reach and a command does, until it is started in the environment of that', async () => {
    await machine.serve();
    await machine.json(['board', 'create', 'demo']);
    const [url] = Object.keys(JSON.parse(readFileSync(machine.path('config', 'credentials.json'), 'utf8')).servers);
    const daemon = await new ScriptedDaemon(machine.store).listen();
    const build = { version: (await machine.json(['version'])).version, commit_time: '2999-01-01T00:00:00Z' };
    const status = { pid: process.pid, build, protocol: 1, started_at: new Date().toISOString(), instance: 'i' };
    const away = { feed: 'none', connected: false, last_error: 'server_unreachable' };
    const servers = [url, 'http://127.0.0.1:1'].map((at) => ({ url: at, ...away }));
    daemon.answers.status = (_, peer) => peer.send({ ...status, servers });
    const found = (await machine.doctor()).filter(isWrong);
    expect(found.map(({ name, code, level }) => [name, code, level])).to.deep.equal([
      ['daemon', 'server_unreachable', 'warning'],
    ]);
    expect(found[0]!.message).to.include(`It does not reach ${url}, which answers here`);
    daemon.close();
    rmSync(machine.path('state', 'daemon.sock'), { force: true });
    await machine.mend(found[0]!.fix!);
    await quiet();
  });

  it('names a seat whose board is there again, until the daemon asks for it anew', async () => {
    await machine.serve();
    await machine.json(['board', 'create', 'demo']);
    const { agent } = await machine.json(['agent', 'create', 'codex', '--board', 'demo']);
    const [server] = Object.keys(JSON.parse(readFileSync(machine.path('config', 'credentials.json'), 'utf8')).servers);
    const daemon = await new ScriptedDaemon(machine.store).listen();
    const build = { version: (await machine.json(['version'])).version, commit_time: '2999-01-01T00:00:00Z' };
    const status = { pid: process.pid, build, protocol: 1, started_at: new Date().toISOString(), instance: 'i' };
    const gone = { agent: { server, board: 'demo', name: 'codex', member_id: agent.id }, problem: 'board_gone' };
    daemon.answers.status = (_, peer) => peer.send({ ...status, agents: [gone] });
    const { fix } = await machine.names('board_gone', 'error');
    daemon.close();
    rmSync(machine.path('state', 'daemon.sock'), { force: true });
    await machine.mend(fix);
    await quiet();
  });

  it('names what only the daemon knows, as it says it', async () => {
    const daemon = await new ScriptedDaemon(machine.store).listen();
    const agent = {
      server: 'http://127.0.0.1:1',
      board: 'demo',
      name: 'codex',
      member_id: 'mem_01K5A0000000000000000000M1',
    };
    const build = { version: (await machine.json(['version'])).version, commit_time: '2999-01-01T00:00:00Z' };
    const status = { pid: process.pid, build, protocol: 1, started_at: new Date().toISOString(), instance: 'i' };
    const troubled = ['handoff_failed', 'extension_outdated'].map((problem) => ({ agent, problem, since: null }));
    const metrics = { wake_echo_missing: 2, uncaught_errors: 1 };
    const attention = [{ handoff_id: `hnd_${'0'.repeat(32)}`, agent, seqs: [1], reason: 'It ended with code 1.' }];
    daemon.answers.status = (_, peer) => peer.send({ ...status, agents: troubled, attention, metrics });
    expect((await machine.names('delivery_attention', 'error')).message).to.equal(
      'codex on demo could not be handed its messages: It ended with code 1.',
    );
    const fixes = [
      (await machine.names('handoff_failed', 'error')).fix,
      (await machine.names('extension_outdated', 'error')).fix,
      (await machine.names('wake_echo_missing', 'warning')).fix,
      (await machine.names('daemon_error', 'warning')).fix,
    ];
    expect((await machine.run(['daemon', 'status'])).stdout).to.include('Errors     1 unexpected\n');
    daemon.close();
    rmSync(machine.path('state', 'daemon.sock'), { force: true });
    for (const fix of fixes) await machine.mend(fix);
    await quiet();
    expect(existsSync(machine.path('state', 'daemon.sock'))).to.equal(true);
  });
});
