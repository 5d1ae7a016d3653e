/**
 * `kill -9` at every step of handing and acknowledging: no message is lost, none is acknowledged before its session had
 * it, and only what was on its way comes twice. `DAEMON_KILLS` is how often each step is tried.
 */

import Sqlite from 'better-sqlite3';
import { expect } from 'chai';
import { type FaultPoint, faultPoints } from '../../src/daemon/faults.ts';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { newAgent, newBoard, post } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { FakeHarness } from './support/harness.ts';
import { DaemonProcess } from './support/process.ts';
import { Machine } from './world.ts';

const times = Number(process.env['DAEMON_KILLS'] ?? '1');

/** From here on the receipt is on the disk. */
const durable = faultPoints.indexOf('confirm.recorded');

describe('a daemon that is killed', () => {
  let server: TestServer;
  let machine: Machine;
  let daemon: DaemonProcess;

  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.stop());
  afterEach(async () => {
    await daemon?.kill();
    await machine?.close();
  });

  for (const point of faultPoints) {
    it(`at ${point} loses nothing and acknowledges nothing too early`, async function () {
      this.timeout(20_000 * times);
      for (let round = 0; round < times; round++) await killedAt(point);
    });
  }

  for (const point of faultPoints) {
    it(`but cannot do what is due at ${point} tries again and loses nothing`, async function () {
      this.timeout(40_000);
      const { agent, board, harness, journal } = await begun(`${point}:error`);
      const { seq } = await post(server.dana, board, 'the first one');
      await until(async () => (await agent.ok('readInbox')).cursor >= seq, 'it is acknowledged', 20_000);
      expect(harness.times('the first one')).to.be.within(1, 2);
      await harness.stop();
      await daemon.kill('SIGTERM');
      sound(journal);
    });
  }

  /** A session that waits on a new board, and a daemon that breaks. */
  async function begun(faults: string) {
    machine = new Machine();
    const board = await newBoard(server.dana);
    const agent = await newAgent(server.dana, board.name);
    await machine.knows(server.url, (await server.nobody.ok('getInfo')).server_id, server.dana);
    await machine.holds(server.url, board, agent);
    const { socket, journal } = daemonPaths(machine.folders);
    daemon = await DaemonProcess.start(machine, faults);
    const harness = new FakeHarness(socket);
    await harness.register();
    await harness.ask('bind', { agent: { server: server.url, board: board.name, name: agent.name } });
    harness.start();
    return { agent, board: board.name, harness, journal };
  }

  async function killedAt(point: FaultPoint): Promise<void> {
    const { agent, board, harness, journal } = await begun(`${point}:kill`);
    const cursor = async () => (await agent.ok('readInbox')).cursor;

    const first = await post(server.dana, board, 'the first one');
    const second = await post(server.dana, board, 'and another');
    await until(() => daemon.gone, `it passes ${point}`, 15_000);
    if (harness.times('the first one') === 0) expect(await cursor()).to.be.below(first.seq);
    if (harness.times('and another') === 0) expect(await cursor()).to.be.below(second.seq);
    daemon = await DaemonProcess.start(machine);
    await until(async () => (await cursor()) >= second.seq, `all is acknowledged after ${point}`, 15_000);

    for (const text of ['the first one', 'and another']) expect(harness.times(text)).to.be.within(1, 2, text);
    const early = faultPoints.indexOf(point) >= durable;
    if (early) expect(harness.times('the first one')).to.equal(1);
    const last = await post(server.dana, board, 'the last');
    await until(async () => (await cursor()) >= last.seq, 'it goes on');
    expect(harness.times('the last')).to.equal(1);
    await harness.stop();
    await daemon.kill('SIGTERM');
    sound(journal);
    await machine.close();
  }
});

/** Nothing is left in between, and the file is whole. */
function sound(path: string): void {
  const db = new Sqlite(path, { readonly: true });
  expect(db.pragma('quick_check', { simple: true })).to.equal('ok');
  const open = db.prepare("SELECT id, state, reason FROM handoffs WHERE state NOT IN ('done', 'ended')").all();
  expect(open).to.deep.equal([]);
  expect(db.prepare('SELECT * FROM received').all()).to.deep.equal([]);
  db.close();
}
