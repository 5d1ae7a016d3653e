/**
 * Posts while things break: hooks and whole programs killed in the middle, connections cut, answers lost, the server killed,
 * the daemon killed at any moment, started twice, replaced. Everything arrives, nothing is acknowledged before it did, only
 * what was on its way comes twice, and the journal is whole after each. `DAEMON_STORM` is how many times each breaks.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { writePrivate } from '../../src/local/private-file.ts';
import { newFolder, remove } from '../faults/databases.ts';
import { launchServer, localKey } from '../faults/launch.ts';
import { Api } from '../support/api.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { asked } from './support/line.ts';
import { Played } from './support/played.ts';
import { DaemonProcess } from './support/process.ts';
import { program } from './support/programs.ts';

const times = Number(process.env['DAEMON_STORM'] ?? '2');
const seed = Number(process.env['DAEMON_SEED'] ?? Date.now() % 100_000);

describe(`the daemon in a storm (DAEMON_SEED=${seed})`, () => {
  let server: TestServer;
  let played: Played | null = null;
  let proxy: FaultProxy;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    proxy = await new FaultProxy(server.url, server.dataDir).listen();
  });
  afterEach(async () => {
    proxy.heal();
    await played?.end();
    played = null;
    await proxy.down();
  });

  const begin = async (): Promise<Played> => {
    played = await Played.begin(server, { origin: proxy.url });
    return played;
  };
  const moments = () => fc.sample(fc.integer({ min: 0, max: 120 }), { numRuns: times, seed });
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Everything arrived, no more often than so; then the journal has nothing left in between. */
  async function allArrived(one: Played, most = 2): Promise<void> {
    proxy.heal();
    const last = one.posted.at(-1)!.seq;
    await until(async () => (await one.cursor()) >= last, 'all is acknowledged', 90_000);
    for (const { text } of one.posted) expect(one.harness.times(text), text).to.be.within(1, most);
    await one.endSound();
    played = null;
  }

  it(`loses nothing where ${times} hooks are killed before they wrote what they were given`, async function () {
    this.timeout(120_000 + times * 2_000);
    const one = await begin();
    for (let n = 0; n < times; n++) {
      one.harness.killNext = true;
      await one.say();
      await until(() => !one.harness.killNext, 'a hook was killed');
      await one.honest();
      one.whole();
    }
    await allArrived(one);
  });

  it(`loses nothing where ${times} connections are cut and answers lost`, async function () {
    this.timeout(120_000 + times * 5_000);
    const one = await begin();
    const plan = fc.sample(
      fc.oneof(
        fc.tuple(
          fc.constantFrom('GET /v1/me/inbox', 'POST /v1/me/inbox/ack'),
          fc.constantFrom('reset', 'drop_answer', 'cut'),
        ),
        fc.constant(['GET /v1/stream', 'cut'] as const),
      ),
      { numRuns: times, seed },
    );
    let cut = 0;
    for (const [path, fault] of plan) {
      if (path === 'GET /v1/stream') {
        await until(() => proxy.openStreams > 0, 'the stream is open', 65_000);
        proxy.cutStreams();
        cut++;
        // Where the machine's own server says that it runs, nobody waits for long.
        comesBack(one, proxy.url);
        await one.say();
      } else {
        const before = proxy.broken;
        proxy.fail(path, fault, 1);
        await one.say();
        await until(() => proxy.broken > before, `${path} was ${fault}`, 65_000);
        cut++;
      }
      await one.honest();
      one.whole();
    }
    expect(cut).to.equal(times);
    // Nothing of this touches the way to the session, so nothing comes twice.
    await allArrived(one, 1);
  });

  it(`loses nothing where the server is killed ${times} times, and comes back`, async function () {
    this.timeout(120_000 + times * 20_000);
    const place = newFolder('storm');
    let child = launchServer({ dataDir: place });
    try {
      const url = await child.ready;
      const port = Number(new URL(url).port);
      const dana = new Api(url, localKey(place));
      const true_ = { url, dana, dataDir: place, nobody: new Api(url, undefined) } as unknown as TestServer;
      played = await Played.begin(true_);
      const one = played;
      for (const ms of moments()) {
        await one.say();
        await pause(ms);
        await child.kill();
        one.whole();
        child = launchServer({ dataDir: place, port });
        await child.ready;
        comesBack(one, url);
        await one.say();
        await one.honest();
      }
      await allArrived(one, 1);
    } finally {
      await child.stop();
      remove(place);
    }
  });

  it(`loses nothing where the program with the session is killed ${times} times`, async function () {
    this.timeout(120_000 + times * 10_000);
    const one = await begin();
    await one.harness.stop();
    const { socket, journal } = daemonPaths(one.machine.folders);
    const transcript = join(one.machine.home, 'transcript');
    const agent = JSON.stringify({ server: proxy.url, board: one.board, name: one.agent.name });
    const had = (text: string) =>
      existsSync(transcript)
        ? readFileSync(transcript, 'utf8')
            .split('\n')
            .filter((line) => line.includes(text)).length
        : 0;
    one.harness.times = had;
    const main = await program('harness-process');
    let session: ChildProcess;
    const live = async (way: string) => {
      session = spawn(process.execPath, [main, socket, way, `of-${way}`, transcript, agent], {
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      });
      await once(session.stdout!, 'data');
    };
    const die = async () => {
      const gone = once(session, 'exit');
      session.kill('SIGKILL');
      await gone;
    };
    // Two sessions take the seat from each other, each as a new life of its own.
    const ways = ['wait', 'extension', 'prompt'];
    await live('wait');
    for (const [n, ms] of moments().entries()) {
      await one.say();
      await pause(ms / 2);
      await die();
      await one.honest();
      one.whole();
      await live(ways[(n + 1) % ways.length]!);
    }
    const last = one.posted.at(-1)!.seq;
    await until(async () => (await one.cursor()) >= last, 'all is acknowledged', 90_000);
    for (const { text } of one.posted) expect(had(text), text).to.be.within(1, times + 1);
    await die();
    expect(existsSync(journal)).to.equal(true);
    await one.endSound();
    played = null;
  });

  it(`loses nothing where the daemon is killed at any moment ${times} times`, async function () {
    this.timeout(120_000 + times * 5_000);
    const one = await begin();
    for (const ms of moments()) {
      await one.say();
      await pause(ms);
      await one.daemon.kill();
      await one.honest();
      one.whole();
      await one.restart();
    }
    // A message may be on its way in each of several kills.
    await allArrived(one, times + 1);
  });

  it(`loses nothing where two daemons are started at once ${times} times: one runs, and the other leaves all alone`, async function () {
    this.timeout(120_000 + times * 5_000);
    const one = await begin();
    const { socket, info, journal } = daemonPaths(one.machine.folders);
    for (const ms of moments()) {
      await one.say();
      await pause(ms / 4);
      await one.daemon.kill();
      const both = await Promise.all([DaemonProcess.spawn(one.machine), DaemonProcess.spawn(one.machine)]);
      await until(() => both.some(({ gone }) => gone), 'one of them has ended');
      const [left, stays] = both[0]!.gone ? both : [both[1]!, both[0]!];
      expect([await left!.ended(), left!.stderr]).to.deep.equal([0, '']);
      one.daemon = stays!;
      const runs = async () => (await asked(socket, { op: 'status' }).catch(() => null))?.['pid'] === stays!.child.pid;
      await until(runs, 'the other one answers');
      expect(JSON.parse(readFileSync(info, 'utf8'))).to.include({ pid: stays!.child.pid });
      expect(existsSync(journal)).to.equal(true);
      await one.honest();
      one.whole();
    }
    await allArrived(one, times + 1);
  });

  it(`loses nothing where it is replaced in the middle ${times} times, by order and by signal`, async function () {
    this.timeout(120_000 + times * 10_000);
    const one = await begin();
    const { socket } = daemonPaths(one.machine.folders);
    for (const [n, ms] of moments().entries()) {
      await one.say();
      await pause(ms / 4);
      const old = one.daemon;
      if (n % 2 === 0) void asked(socket, { op: 'shutdown', restart: true }).catch(() => null);
      else old.child.kill('SIGTERM');
      await one.say();
      expect(await old.ended()).to.equal(0);
      one.whole();
      await one.restart();
      await one.honest();
    }
    await allArrived(one, 2);
  });
});

/** What a server of this machine writes when it runs again. */
function comesBack(one: Played, url: string): void {
  const { data } = one.machine.folders;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writePrivate(join(data, 'server.addr'), `${new URL(url).host}\n`);
  writePrivate(join(data, 'server.pid'), '{}\n');
}
