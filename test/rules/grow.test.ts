/** The simulation of servers that grow: its parts do what their words say. */
import { expect } from 'chai';
import { Disk, Machine, Thread, Time } from '../bench/grow/machine.ts';
import { pricesOf } from '../bench/grow/prices.ts';
import { scaleCosts, simulate } from '../bench/grow/simulation.ts';

describe('the simulation of how servers grow', () => {
  const doneAt: Record<string, number> = {};
  let time: Time;
  const done = (name: string) => () => {
    doneAt[name] = time.now;
  };
  beforeEach(() => {
    time = new Time();
  });

  it('finds the prices that several sums were made of, and none below zero', () => {
    const prices = [3, 0, 0.5];
    const bought = [
      [1, 0, 0],
      [10, 4, 2],
      [0, 5, 40],
      [7, 7, 7],
    ];
    const purchases = bought.map((counts) => ({
      counts,
      sum: counts.reduce((sum, count, n) => sum + count * prices[n]!, 0),
    }));
    for (const [n, price] of pricesOf(purchases).entries()) expect(price).to.be.closeTo(prices[n]!, 0.001);
    expect(Math.min(...pricesOf([...purchases, { counts: [0, 1, 0], sum: 0.001 }]))).to.be.at.least(0);
  });

  it('gives tasks a core each, and equal parts of fewer cores', () => {
    const machine = new Machine(time, 2);
    for (const name of ['a', 'b']) machine.work(10)(done(name));
    time.until(100);
    expect([doneAt['a'], doneAt['b']]).to.deep.equal([10, 10]);
    for (const name of ['a', 'b', 'c', 'd']) machine.work(10)(done(name));
    time.until(200);
    expect(doneAt['a']! - 100).to.be.closeTo(20, 1e-6);
    expect(machine.busy).to.equal(60);
  });

  it('lets work take as long as its variation says', () => {
    const machine = new Machine(time, 1, (ms) => 3 * ms);
    machine.work(10)(done('a'));
    time.until(100);
    expect([doneAt['a'], machine.busy]).to.deep.equal([30, 30]);
  });

  it('lets work take longer that begins while all cores have other work', () => {
    const machine = new Machine(time, 2, undefined, 1);
    for (const name of ['a', 'b', 'c']) machine.work(10)(done(name));
    time.until(100);
    expect(machine.busy).to.equal(31);
    expect(doneAt['a']).to.equal(doneAt['b']);
    expect(doneAt['c']! - doneAt['a']!).to.be.closeTo(1, 1e-6);
  });

  it('does one thing after the other on a thread', () => {
    const thread = new Thread(new Machine(time, 4));
    for (const name of ['a', 'b']) thread.work(5)(done(name));
    time.until(20);
    expect([doneAt['a'], doneAt['b']]).to.deep.equal([5, 10]);
  });

  it('syncs once for all who came while the log was synced before', () => {
    const disk = new Disk(time, 4);
    disk.sync()(done('first'));
    for (const name of ['a', 'b']) time.wait(1)(() => disk.sync()(done(name)));
    time.until(20);
    expect([doneAt['first'], doneAt['a'], doneAt['b'], disk.syncs]).to.deep.equal([4, 8, 8, 2]);
  });

  it('prices streams on which nothing is posted', () => {
    const none = { post: 0, batch: 0, board: 0, look: 0, feed: 0, news: 0, chunk: 0, frame: 0, read: 0, wake: 0 };
    const prices = { stream: 0.5, credential: 0.01, board: 0.02 };
    const costs = {
      ...{ server: none, postgres: none, load: none, idle: { server: prices, postgres: prices } },
      ...{ yardMs: 1, busy: { 1: 1, 16: 1 }, switchMs: 0, syncMs: 1, bytesPerPost: 1, baseKib: 1, streamKib: 1 },
    };
    const apart = { processesEach: 8, postgresCores: 8, roundTripMs: 0.5 };
    const layout = { processes: 2, cores: 8, apart, boards: 100, streamsPerBoard: 8 };
    const { processes, postgres } = simulate(costs, layout, { posts: 0.001, reads: 0 }, 10_000);
    // 800 looks in 25 s, 800 credentials twice a second, and both processes compare 100 boards each second.
    const cores = (32 * prices.stream + 1_600 * prices.credential + 200 * prices.board) / 1_000;
    expect(processes).to.be.closeTo(cores, cores / 20);
    expect(postgres).to.be.closeTo(cores, cores / 20);
    const busy = simulate(scaleCosts(costs, 2), layout, { posts: 0.001, reads: 0 }, 10_000);
    expect(busy.processes).to.be.closeTo(2 * cores, cores / 10);
  });
});
