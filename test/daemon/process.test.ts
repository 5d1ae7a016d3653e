/** The daemon as a process: one of them, started, stopped, killed and replaced. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { FakeHarness } from './support/harness.ts';
import { asked, Line } from './support/line.ts';
import { DaemonProcess } from './support/process.ts';
import { Machine } from './world.ts';

describe('the daemon as a process', () => {
  let server: TestServer;
  let machine: Machine;
  const running: DaemonProcess[] = [];

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(() => {
    machine = new Machine();
  });
  afterEach(async () => {
    for (const daemon of running.splice(0)) await daemon.kill();
    await machine.close();
  });

  const start = async (): Promise<DaemonProcess> => {
    const daemon = await DaemonProcess.start(machine);
    running.push(daemon);
    return daemon;
  };
  const spawned = async (): Promise<DaemonProcess> => {
    const daemon = await DaemonProcess.spawn(machine);
    running.push(daemon);
    return daemon;
  };
  const paths = () => daemonPaths(machine.folders);

  it('runs once: of many at once one stays, and the others leave everything alone', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, spawned));
    await until(() => all.filter(({ gone }) => gone).length === 5, 'five have ended');
    for (const daemon of all.filter(({ gone }) => gone)) {
      expect(await daemon.ended()).to.equal(0);
      expect(daemon.stderr).to.equal('');
    }
    const [one] = all.filter(({ gone }) => !gone);
    await until(
      () =>
        asked(paths().socket, { op: 'status' })
          .then(({ pid }) => pid === one!.child.pid)
          .catch(() => false),
      'it answers',
    );
    const info = statSync(paths().info).mtimeMs;
    const late = await spawned();
    expect(await late.ended()).to.equal(0);
    expect(statSync(paths().info).mtimeMs).to.equal(info);
    expect((await asked(paths().socket, { op: 'status' }))['pid']).to.equal(one!.child.pid);
  });

  it('takes the place of one that was killed, with its socket and its journal', async () => {
    const first = await start();
    await first.kill();
    expect(existsSync(paths().socket)).to.equal(true);
    await start();
  });

  it('ends on a signal with its files in order, and tells those who wait', async () => {
    const daemon = await start();
    const line = await Line.open(paths().socket);
    line.send({ op: 'register', harness: 'claude-code', session: 'a', source: 'startup' });
    await line.next();
    line.send({ op: 'wait', harness: 'claude-code', session: 'a' });
    await line.next();
    daemon.child.kill('SIGTERM');
    expect(await line.next()).to.deep.equal({ v: 1, event: 'bye' });
    expect(await daemon.ended()).to.equal(0);
    expect(existsSync(paths().socket)).to.equal(false);
    expect(existsSync(paths().info)).to.equal(false);
    expect(existsSync(`${paths().journal}-wal`)).to.equal(false);
  });

  it('outlives an error that nothing caught, and tells where it was thrown, not what it says', async () => {
    const daemon = await start();
    const errors = () => {
      const lines = readFileSync(paths().log, 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
    };
    daemon.child.kill('SIGHUP');
    await until(() => daemon.gone || errors().length === 2, 'both are told');
    expect(errors().map(({ ev, code }) => `${ev} ${code}`)).to.have.members([
      'hook_error TypeError',
      'hook_error RangeError',
    ]);
    for (const { at } of errors()) expect(at[0]).to.match(/^faulty-daemon\.[\d]+\.mjs:\d+:\d+$/);
    expect(readFileSync(paths().log, 'utf8')).to.not.include(machine.home);
    expect(daemon.stderr).to.equal('');
    const { pid, metrics } = await asked(paths().socket, { op: 'status' });
    expect(pid).to.equal(daemon.child.pid);
    expect(metrics).to.include({ uncaught_errors: 2 });
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended()).to.equal(0);
  });

  it('ends with 1 where its stop fails, however it was asked for, and the next one runs', async () => {
    const { socket, log } = paths();
    const moved = `${socket}.moved`;
    const asks = [
      (daemon: DaemonProcess) => void daemon.child.kill('SIGTERM'),
      () => asked(moved, { op: 'shutdown' }).catch(() => null),
    ];
    for (const ask of asks) {
      const daemon = await start();
      renameSync(socket, moved);
      mkdirSync(socket);
      await ask(daemon);
      expect(await daemon.ended()).to.equal(1);
      expect(readFileSync(log, 'utf8')).to.match(/"ev":"hook_error","code":"ERR_FS_EISDIR".*\n$/);
      rmdirSync(socket);
    }
    await start();
  });

  it('ends at once on a second signal', async () => {
    const { harness, daemon } = await handing();
    daemon.child.kill('SIGTERM');
    await until(() => !existsSync(paths().socket), 'it is stopping');
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended()).to.equal(1);
    await harness.end();
  });

  it('uses a short way to its socket where the folder’s name is too long for one', async () => {
    const deep = join(machine.home, 'd'.repeat(120));
    mkdirSync(deep, { mode: 0o700 });
    const other = new Machine();
    await other.close();
    Object.assign(other, {
      home: deep,
      folders: { ...other.folders, config: join(deep, 'config'), state: join(deep, 'state') },
    });
    const daemon = await DaemonProcess.start(other);
    running.push(daemon);
    const { socket } = daemonPaths(other.folders);
    expect(socket).to.match(/^\/tmp\/service-\d+\/[0-9a-f]{16}\.sock$/);
    expect(statSync(join(socket, '..')).mode & 0o777).to.equal(0o700);
    expect(await daemon.kill('SIGTERM')).to.equal(0);
    expect(existsSync(socket)).to.equal(false);
  });

  it('does not start in a folder that is a link or open to others', async () => {
    mkdirSync(join(machine.home, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(machine.home, 'elsewhere'), paths().state);
    const daemon = await spawned();
    expect(await daemon.ended()).to.not.equal(0);
    expect(daemon.stderr).to.contain('socket_unsafe');
  });

  it('does not start with credentials that others can read', async () => {
    mkdirSync(machine.folders.config, { recursive: true, mode: 0o700 });
    writeFileSync(join(machine.folders.config, 'credentials.json'), '{"v":1,"default":null,"servers":{}}', {
      mode: 0o644,
    });
    const daemon = await spawned();
    expect(await daemon.ended()).to.not.equal(0);
    expect(daemon.stderr).to.contain('credentials_unsafe');
    expect(existsSync(paths().journal)).to.equal(false);
  });

  it('keeps its log to its size', async () => {
    mkdirSync(paths().state, { recursive: true, mode: 0o700 });
    writeFileSync(paths().log, 'x'.repeat(10 * 1024 * 1024), { mode: 0o600 });
    await start();
    expect(statSync(`${paths().log}.1`).size).to.equal(10 * 1024 * 1024);
    expect(readFileSync(paths().log, 'utf8')).to.contain('daemon_started');
  });

  it('that is replaced in the middle loses nobody who waits, and nothing that was posted', async () => {
    const { board, agent } = await seated();
    const harness = new FakeHarness(paths().socket);
    await harness.register();
    await harness.ask('bind', { agent: { server: server.url, board, name: agent.name } });
    harness.start();
    let last = 0;
    for (let round = 0; round < 3; round++) {
      last = (await post(server.dana, board, `number ${2 * round}`)).seq;
      const [old] = running.splice(0);
      void asked(paths().socket, { op: 'shutdown', restart: true }).catch(() => null);
      last = (await post(server.dana, board, `number ${2 * round + 1}`)).seq;
      expect(await old!.ended()).to.equal(0);
      await start();
    }
    await until(async () => (await agent.ok('readInbox')).cursor >= last, 'all is acknowledged');
    for (let n = 0; n < 6; n++) expect(harness.times(`number ${n}`), `number ${n}`).to.be.within(1, 2);
    await harness.stop();
  });

  async function seated() {
    const { name: board, id } = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board);
    await machine.knows(server.url, (await server.nobody.ok('getInfo')).server_id, server.dana);
    await machine.holds(server.url, { id, name: board }, agent);
    await start();
    return { board, agent };
  }

  /** With a text that was exposed and that nobody took yet, so that it would wait for that. */
  async function handing(): Promise<{ harness: Line; daemon: DaemonProcess }> {
    const { board, agent } = await seated();
    const line = await Line.open(paths().socket);
    const header = { harness: 'claude-code', session: 'a' };
    await line.send({ op: 'register', ...header, source: 'startup' }).next();
    await line.send({ op: 'bind', ...header, agent: { server: server.url, board, name: agent.name } }).next();
    await line.send({ op: 'wait', ...header }).next();
    await post(server.dana, board, 'hello');
    expect(await line.next()).to.include({ event: 'deliver' });
    return { harness: line, daemon: running[0]! };
  }
});
