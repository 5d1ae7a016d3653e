/** The local server's pid file: what stands in it is not believed, and a running server is found without it. */
import { once } from 'node:events';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CHALLENGE_HEADER, PROOF_HEADER } from '../../src/contract/local-proof.ts';
import { folders as foldersOf } from '../../src/local/folders.ts';
import { findServer, isOurServer } from '../../src/local/own-server/find-running.ts';
import { proofOf } from '../../src/local/own-server/own-agent.ts';
import { ensureLocalServer, stopLocalServer } from '../../src/local/own-server/start.ts';
import { alive } from '../../src/local/process.ts';
import { isGone, processRef } from '../../src/local/process-ref.ts';
import { freePort } from '../support/free-port.ts';
import { collect, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

// Elsewhere no system tells which process a pid file may be of; the tests below are about that.
const onLinux = process.platform === 'linux' ? describe : () => undefined;

onLinux('the pid file of the local server', () => {
  const home = homeWithBoard('demo', { apart: true });
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
    const server = processRef(pid)!;
    writeFileSync(file(), JSON.stringify({ pid: other.pid, url: ui_url, version: '0.0.0' }));
    expect((await home().run(['server', 'stop'])).stdout).to.equal('Stopped the local server.\n');
    expect(isGone(server)).to.equal(true);
    expect(other.exitCode).to.equal(null);
    expect(other.signalCode).to.equal(null);
    other.kill();
  });

  it('is all that a power cut may leave empty: the address of the server is replaced as a whole', async () => {
    const { pid } = await home().json(['server', 'start']);
    const path = home().path('data', 'server.addr');
    const text = readFileSync(path, 'utf8');
    linkSync(path, `${path}.before`);
    process.kill(pid, 'SIGKILL');
    await until('it is gone', () => !alive(pid));
    const address = `127.0.0.1:${await freePort()}`;
    await home().json(['server', 'start'], { env: { SERVICE_LOCAL_ADDR: address } });
    expect(readFileSync(path, 'utf8')).to.equal(`${address}\n`);
    expect(readFileSync(`${path}.before`, 'utf8')).to.equal(text);
  });
});

describe('a server on a system that does not tell which process holds what', () => {
  const seen: string[] = [];
  let dir: string;
  let port: number;
  const folders = () => foldersOf({ SERVICE_HOME: dir });
  const url = () => `http://127.0.0.1:${port}`;
  const door = createServer((request, response) => {
    if (request.headers.authorization) seen.push(request.headers.authorization);
    const challenge = request.headers[CHALLENGE_HEADER];
    if (typeof challenge === 'string') response.setHeader(PROOF_HEADER, proofOf(doorSecret, challenge, url()));
    response.end(JSON.stringify({ name: 'service', version: '0.1.0', server_id: 'srv_1', mode: 'local' }));
  });
  const doorSecret = Buffer.alloc(32, 1);

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

  function place(secret: Buffer) {
    mkdirSync(folders().data, { recursive: true, mode: 0o700 });
    writeFileSync(join(folders().data, 'server-secret'), secret, { mode: 0o600 });
    writeFileSync(join(folders().data, 'local-key'), `abh_${'k'.repeat(43)}`, { mode: 0o600 });
    const env = { SERVICE_HOME: dir, SERVICE_LOCAL_ADDR: `127.0.0.1:${port}` };
    return { folders: folders(), env, proc: join(dir, 'no-proc') };
  }

  it('is found without a pid file by its proof that it has the secret of our data folder', async () => {
    expect(await findServer(place(doorSecret))).to.include({ pid: null, url: url(), version: '0.1.0' });
    expect(seen, 'no key is sent for that').to.deep.equal([]);
  });

  it('is not taken for ours when it has another secret, or we have none', async () => {
    const other = place(Buffer.alloc(32, 2));
    expect(await findServer(other)).to.equal(null);
    rmSync(join(other.folders.data, 'server-secret'));
    expect(await findServer(other)).to.equal(null);
    expect(seen).to.deep.equal([]);
  });

  it('that takes long to start is not said to have failed', async () => {
    const { folders, env } = place(doorSecret);
    const program = join(dir, 'slow.cjs');
    const file = join(dir, 'pid');
    writeFileSync(
      program,
      `require('fs').writeFileSync('${file}', String(process.pid)); setTimeout(() => {}, 60_000);`,
    );
    const slow = { ...env, SERVICE_LOCAL_ADDR: `127.0.0.1:${await freePort()}` };
    const error = await ensureLocalServer({ folders, env: slow, program, version: '0.1.0' }).catch((thrown) => thrown);
    process.kill(Number(readFileSync(file, 'utf8')));
    expect(error).to.include({ code: 'server_not_running', hint: 'Try again soon; what it does: service server logs' });
    expect(error.message).to.equal('The local server is still starting: it has not answered within 10 seconds.');
  });

  it('is not ended by guessing: what to do is said', async () => {
    const error = await stopLocalServer(place(doorSecret)).catch((thrown) => thrown);
    expect(error).to.include({ code: 'server_unexpected' });
    expect(error.hint).to.include(`lsof -t -iTCP:${port} -sTCP:LISTEN`);
  });

  it('is a process that ran when the pid file was written, and none that began later', async () => {
    const at = (started_at: Date) =>
      isOurServer(
        { pid: process.pid, url: url(), version: '0.1.0', started_at: started_at.toISOString() },
        place(doorSecret),
      );
    expect(await at(new Date())).to.equal(true);
    expect(await at(new Date(Date.now() - process.uptime() * 1_000 - 60_000))).to.equal(false);
    const damaged = { pid: process.pid, url: url() } as Parameters<typeof isOurServer>[0];
    expect(await isOurServer(damaged, place(doorSecret))).to.equal(false);
  });
});
