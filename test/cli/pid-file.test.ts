/** The local server's pid file: what stands in it is not believed, and a running server is found without it. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findServer } from '../../src/local/find-running.ts';
import { folders as foldersOf } from '../../src/local/folders.ts';
import { stopLocalServer } from '../../src/local/start.ts';
import { collect, freePort, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

// Elsewhere no system tells which process a pid file may be of; the tests below are about that.
const onLinux = process.platform === 'linux' ? describe : () => undefined;

onLinux('the pid file of the local server', function () {
  this.timeout(60_000);
  const home = homeWithBoard();
  const file = () => home().path('data', 'server.pid');
  const damages: [string, () => void][] = [
    ['missing', () => rmSync(file())],
    ['damaged', () => writeFileSync(file(), 'garbage')],
    ['of a process that is gone', () => writeFileSync(file(), '{"pid":4194303,"url":"http://127.0.0.1:9"}')],
  ];

  for (const [what, damage] of damages)
    it(`may be ${what}: the running server is used, named and stopped all the same`, async () => {
      await home().json(['server', 'start']);
      const pid = home().serverPid();
      damage();
      expect(await home().json(['status'])).to.include({ server_running: true });
      expect(home().serverPid(), 'written again').to.equal(pid);
      damage();
      expect(await home().json(['say', 'still here'])).to.not.have.property('autostarted');
      damage();
      expect(await home().json(['server', 'start'])).to.include({ started: false, pid });
      damage();
      expect((await home().run(['server', 'stop'])).stdout).to.equal('Stopped the local server.\n');
      expect((await home().run(['server', 'stop'])).stdout).to.equal('Nothing was running.\n');
    });

  it('may name another process, which is not ended', async () => {
    const { pid, ui_url } = await home().json(['server', 'start']);
    const other = home().startShell('echo ready; exec sleep 60');
    const printed = collect(other);
    await until('another process runs', () => printed().stdout !== '');
    writeFileSync(file(), JSON.stringify({ pid: other.pid, url: ui_url, version: '0.0.0' }));
    expect((await home().run(['server', 'stop'])).stdout).to.equal('Stopped the local server.\n');
    expect(() => process.kill(pid, 0)).to.throw('ESRCH');
    expect(other.exitCode).to.equal(null);
    expect(other.signalCode).to.equal(null);
    other.kill();
  });
});

describe('a server without a pid file, on a system that does not tell which process it is', () => {
  const key = `abh_${'k'.repeat(43)}`;
  const seen: string[] = [];
  let dir: string;
  const door = createServer((request, response) => {
    if (request.headers.authorization) seen.push(request.headers.authorization);
    const info = { name: 'service', version: '0.1.0', server_id: 'srv_1', mode: 'local' };
    response.statusCode = request.url === '/v1/info' || request.headers.authorization === `Bearer ${key}` ? 200 : 401;
    response.end(JSON.stringify(info));
  });
  let port: number;

  before(async () => {
    port = await freePort();
    door.listen(port, '127.0.0.1');
    await once(door, 'listening');
  });
  after(() => {
    door.close();
    door.closeAllConnections();
  });
  beforeEach(() => {
    seen.length = 0;
    dir = mkdtempSync(join(tmpdir(), 'board-pid-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function place(knownId: string, localKey: string) {
    const env = { SERVICE_HOME: dir, SERVICE_LOCAL_ADDR: `127.0.0.1:${port}` };
    const folders = foldersOf(env);
    for (const folder of [folders.data, folders.config]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folders.data, 'local-key'), localKey, { mode: 0o600 });
    const servers = { [`http://127.0.0.1:${port}`]: { server_id: knownId, mode: 'local', seats: {} } };
    writeFileSync(join(folders.config, 'credentials.json'), JSON.stringify({ v: 1, default: null, servers }), {
      mode: 0o600,
    });
    return { folders, env, proc: join(dir, 'no-proc') };
  }

  it('is found by its id and by the key that it accepts', async () => {
    const found = await findServer(place('srv_1', key));
    expect(found).to.include({ pid: null, url: `http://127.0.0.1:${port}`, version: '0.1.0' });
  });

  it('is not taken for ours when it is another or refuses the key; the key goes to no other', async () => {
    expect(await findServer(place('srv_2', key))).to.equal(null);
    expect(seen).to.deep.equal([]);
    rmSync(dir, { recursive: true });
    expect(await findServer(place('srv_1', `abh_${'x'.repeat(43)}`))).to.equal(null);
  });

  it('is not ended by guessing: what to do is said', async () => {
    const error = await stopLocalServer(place('srv_1', key)).catch((thrown) => thrown);
    expect(error).to.include({ code: 'server_unexpected' });
    expect(error.hint).to.include(`lsof -t -iTCP:${port} -sTCP:LISTEN`);
  });
});
