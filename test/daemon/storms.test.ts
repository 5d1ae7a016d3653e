/**
 * Posts while things break: hooks killed in the middle, connections cut, answers lost, the server killed, the daemon killed
 * at any moment. Everything arrives, nothing is acknowledged before it did, and only what was on its way comes twice.
 * `DAEMON_STORM` is how many times each breaks.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { type Agent, newAgent, newBoard, post } from '../support/cast.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { FakeHarness } from './support/harness.ts';
import { DaemonProcess } from './support/process.ts';
import { Machine } from './world.ts';

const times = Number(process.env['DAEMON_STORM'] ?? '4');
const seed = Number(process.env['DAEMON_SEED'] ?? Date.now() % 100_000);

describe(`the daemon in a storm (DAEMON_SEED=${seed})`, () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let machine: Machine;
  let daemon: DaemonProcess;
  let harness: FakeHarness;
  let agent: Agent;
  let board: string;
  let posted: { seq: number; body: string }[];

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  beforeEach(async () => {
    proxy = await new FaultProxy(server.url).listen();
    machine = new Machine();
    posted = [];
    const made = await newBoard(server.dana);
    board = made.name;
    agent = await newAgent(server.dana, board);
    await machine.knows(proxy.url, (await server.nobody.ok('getInfo')).server_id, server.dana);
    await machine.holds(proxy.url, made, agent);
    daemon = await DaemonProcess.start(machine);
    harness = new FakeHarness(daemonPaths(machine.folders).socket);
    await harness.register();
    await harness.ask('bind', { agent: { server: proxy.url, board, name: agent.name } });
    harness.start();
  });
  afterEach(async () => {
    proxy.heal();
    await harness.stop();
    await daemon.kill();
    await machine.close();
    await proxy.down();
  });

  const say = async () => {
    const body = `<${posted.length}>`;
    const { seq } = await post(server.dana, board, `storm ${posted.length}.`);
    posted.push({ seq, body });
  };

  /** Acknowledged is what the session had, and nothing after it. */
  async function honest(): Promise<void> {
    const { cursor } = await agent.ok('readInbox');
    for (const [n, { seq }] of posted.entries())
      if (seq <= cursor) expect(harness.times(`storm ${n}.`), `#${seq} is acknowledged`).to.be.at.least(1);
  }

  async function allArrived(most = 2): Promise<void> {
    proxy.heal();
    const last = posted.at(-1)!.seq;
    await until(async () => (await agent.ok('readInbox')).cursor >= last, 'all is acknowledged', 90_000);
    for (const n of posted.keys()) expect(harness.times(`storm ${n}.`), `storm ${n}`).to.be.within(1, most);
  }

  it('loses nothing where hooks are killed before they wrote what they were given', async function () {
    this.timeout(120_000 + times * 2_000);
    for (let n = 0; n < times; n++) {
      harness.killNext = true;
      await say();
      await until(() => !harness.killNext, 'a hook was killed', 30_000);
      await honest();
    }
    await allArrived();
  });

  it('loses nothing where connections are cut and answers lost', async function () {
    this.timeout(120_000 + times * 2_000);
    const faults = ['reset', 'drop_answer', 'cut'] as const;
    const paths = ['GET /v1/me/inbox', 'POST /v1/me/inbox/ack', 'GET /v1/stream', 'GET /v1/me/notices'];
    const plan = fc.sample(fc.tuple(fc.constantFrom(...paths), fc.constantFrom(...faults)), { numRuns: times, seed });
    for (const [path, fault] of plan) {
      if (path === 'GET /v1/stream') proxy.cutStreams();
      else proxy.fail(path, fault, 1);
      await say();
      await honest();
    }
    // Nothing of this touches the way to the session, so nothing comes twice.
    await allArrived(1);
  });

  it('loses nothing where the server goes away and comes back', async function () {
    this.timeout(240_000);
    for (let n = 0; n < Math.min(times, 10); n++) {
      await say();
      await proxy.down();
      await say();
      await proxy.listen();
      await honest();
    }
    await allArrived(1);
  });

  it('loses nothing where the daemon is killed at any moment', async function () {
    this.timeout(120_000 + times * 5_000);
    const moments = fc.sample(fc.integer({ min: 0, max: 120 }), { numRuns: times, seed });
    for (const ms of moments) {
      await say();
      await new Promise((resolve) => setTimeout(resolve, ms));
      await daemon.kill();
      await honest();
      daemon = await DaemonProcess.start(machine);
    }
    // A message may be on its way in each of several kills.
    await allArrived(times + 1);
  });
});
