/** Whoever listens at the address of this machine's own server: no key goes there before it is proved to be that server. */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { takeKernelLock } from '../../src/local/kernel-lock.ts';
import { collect, finished, Home, until } from './support/home.ts';
import { Stranger } from './support/stranger.ts';

describe('a stranger at the address of this machine’s own server', () => {
  let home: Home;
  let url: string;
  let info: object;
  let stranger: Stranger | null;

  beforeEach(async () => {
    stranger = null;
    home = new Home();
    url = (await home.json(['board', 'create', 'demo'])).server.url;
    await home.json(['agent', 'create', 'codex', '--board', 'demo']);
    info = (await (await fetch(`${url}/v1/info`)).json()) as object;
  });
  afterEach(async () => {
    stranger?.close();
    await home.close();
  });

  const file = () => home.path('data', 'server.pid');
  const port = () => Number(new URL(url).port);
  const noStart = { SERVICE_NO_AUTOSTART: '1' };

  async function crash(): Promise<void> {
    const pid = home.serverPid() as number;
    process.kill(pid, 'SIGKILL');
    await until('the server is gone', () => !runs(pid));
  }

  /** The server has crashed; its number is another process's by now, and its port a stranger's. */
  async function replaced(silent?: 'silent'): Promise<Stranger> {
    await crash();
    const other = home.startShell('echo ready; exec sleep 600');
    const printed = collect(other);
    await until('another process runs', () => printed().stdout !== '');
    const told = JSON.parse(readFileSync(file(), 'utf8'));
    writeFileSync(file(), JSON.stringify({ ...told, pid: other.pid }));
    stranger = await Stranger.listen(info, { port: port(), silent: silent !== undefined });
    return stranger;
  }

  const commands: string[][] = [
    ['whoami'],
    ['say', 'hello'],
    ['say', '--as', 'codex', '--no-notes', 'hello'],
    ['inbox', '--as', 'codex'],
    ['read'],
    ['read', '--follow'],
    ['open', '--print'],
    ['audit', 'verify'],
    ['key', 'list'],
  ];

  it('gets no key or token of any command that may not start the server', async () => {
    const { caught } = await replaced();
    for (const args of commands) {
      const { code, stdout } = await home.run([...args, '--json'], { env: noStart });
      expect(caught, args.join(' ')).to.deep.equal([]);
      expect([code, JSON.parse(stdout).error.code], args.join(' ')).to.deep.equal([8, 'server_not_running']);
    }
    for (const args of [['status'], ['doctor'], ['server', 'info'], ['servers'], ['openapi'], ['server', 'stop']])
      await home.run(args, { env: noStart });
    expect(caught).to.deep.equal([]);
  });

  it('gets none either where the server is started, which then listens elsewhere', async () => {
    const { caught } = await replaced();
    const record = await home.json(['say', '--as', 'codex', '--no-notes', 'hello']);
    expect(record.autostarted).to.deep.equal(['server']);
    expect(record.server.url).to.not.equal(url);
    expect((await home.json(['read'])).messages[0].body).to.equal('hello');
    expect(caught).to.deep.equal([]);
  });

  it('may be one that takes every connection and answers none', async () => {
    await replaced('silent');
    expect((await home.json(['whoami'])).server.url).to.not.equal(url);
    expect(stranger?.caught).to.deep.equal([]);
  });

  it('gets nothing when it takes the place of a server that ends in the middle of a command', async () => {
    await home.shell('mkfifo lines');
    const child = home.startShell('exec service say --ndjson-in < lines');
    const printed = collect(child);
    const pipe = openSync(join(home.work, 'lines'), 'r+');
    const lines = () => printed().stdout.trim().split('\n').filter(Boolean).length;
    writeSync(pipe, '{"body":"one"}\n');
    await until('a line is posted', () => lines() === 1);
    await crash();
    stranger = await Stranger.listen(info, { port: port() });
    writeSync(pipe, '{"body":"two"}\n');
    await until('the next line is posted', () => lines() === 2);
    closeSync(pipe);
    expect((await finished(child)).code).to.equal(0);
    expect(stranger.caught).to.deep.equal([]);
    const { messages } = await home.json(['read', '--all']);
    expect(messages.map(({ body }: { body: string }) => body)).to.include.members(['one', 'two']);
  });

  it('gets nothing when it takes the place of a server that is followed', async () => {
    const child = home.start(['read', '--follow', '--json', '--verbose']);
    const printed = collect(child);
    await until('the stream is open', () => printed().stderr.includes('/v1/stream'));
    await crash();
    stranger = await Stranger.listen(info, { port: port() });
    await until('it is asked', () => (stranger?.asked.length ?? 0) > 0);
    await home.json(['say', 'after the crash']);
    await until('the message is shown', () => printed().stdout.includes('after the crash'), 40_000);
    child.kill('SIGINT');
    await finished(child);
    expect(stranger.caught).to.deep.equal([]);
  });

  it('gets nothing by passing on what the true server answers', async () => {
    stranger = await Stranger.listen(info, { relayTo: url });
    const told = JSON.parse(readFileSync(file(), 'utf8'));
    writeFileSync(file(), JSON.stringify({ ...told, url: stranger.url }));
    const { server } = await home.json(['whoami']);
    // Only Linux tells which process the true one is; elsewhere it is started again.
    if (process.platform === 'linux') expect(server.url).to.equal(url);
    expect(stranger.asked).to.not.deep.equal([]);
    expect(stranger.caught).to.deep.equal([]);
  });
});

describe('the start of this machine’s own server', () => {
  it('waits for a process that has its data already and still migrates it', async () => {
    const home = new Home();
    await home.json(['board', 'create', 'demo']);
    await home.json(['server', 'stop']);
    const lock = takeKernelLock(home.path('data', 'server.lock'));
    const waits = home.start(['board', 'list', '--json']);
    const log = () => readFileSync(home.path('data', 'server.log'), 'utf8');
    await until('a second one was refused', () => log().includes('already_running'));
    lock?.release();
    const server = home.start(['serve']);
    const { code, stdout } = await finished(waits);
    expect([code, JSON.parse(stdout).boards?.length]).to.deep.equal([0, 1]);
    expect(home.serverPid()).to.equal(server.pid);
    await home.close();
  });
});

function runs(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
