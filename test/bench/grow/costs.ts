/**
 * What each step of a server on Postgres costs in CPU time: it is put under loads in which the steps are done in different numbers, and
 * the costs are those that explain best what each of the loads took.
 */
import pg from 'pg';
import { Engine } from '../engine.ts';
import { Fanout } from '../fanout.ts';
import { median } from '../measure.ts';
import { type ProductSide, productSide } from '../sides.ts';
import { Wire } from '../wire.ts';
import { type IdlePrices, measureIdle } from './idle.ts';
import { pricesOf } from './prices.ts';
import { yardstick } from './yardstick.ts';

/**
 * A post; a transaction of posts; a board in it; a look at what is new; a board's feed in it; a message that it finds; what it brings
 * one stream; a message of that; a read of ten messages; a wake-up by NOTIFY.
 */
export const units = ['post', 'batch', 'board', 'look', 'feed', 'news', 'chunk', 'frame', 'read', 'wake'] as const;
type Prices = Record<(typeof units)[number], number>;

export interface Costs {
  /** CPU milliseconds of a unit: of the server, of Postgres, and of the load. */
  server: Prices;
  postgres: Prices;
  load: Prices;
  /** What streams cost on which nothing happens. */
  idle: Record<'server' | 'postgres', IdlePrices>;
  /** How fast the machine was then, by the yardstick. */
  yardMs: number;
  /**
   * By how much all costs are multiplied so that the simulation of one busy process, on one board and on 16, meets what was measured: it
   * stands for what no step shows, such as interrupts, garbage, and other machines on the same cores.
   */
  busy: { 1: number; 16: number };
  /**
   * CPU milliseconds that a piece of work takes longer which begins while all cores have other work, whose data their caches hold: so
   * many that the simulation meets, as nearly as it goes, what was measured of several processes on 2, 4 and 8 boards.
   */
  switchMs: number;
  /** Milliseconds until a sync of the log is done. */
  syncMs: number;
  /** Bytes of the database that a post of 200 characters takes. */
  bytesPerPost: number;
  /** KiB of a server: by itself, and for each stream. */
  baseKib: number;
  streamKib: number;
}

interface Run {
  counts: Prices;
  cpu: Record<'server' | 'postgres' | 'load', number>;
  yardMs: number;
}

const BOARDS = 16;
const WARM_UP_MS = 4_000;
const RUN_MS = 3_000;
const ROUNDS = 3;
const WAKES = 4_000;
/** So that what the first of them need once does not count. */
const FIRST_STREAMS = 300;
const IDLE_STREAMS = 600;
/** Connections that read at once. */
const READERS = 16;

/** Writers, readers and boards of a load. */
type Shape = [writers: number, readers: number, boards: number];

const shapes: Shape[] = [
  [1, 0, 1],
  [4, 0, 1],
  [16, 0, 1],
  [1, 1, 1],
  [4, 4, 1],
  [16, 4, 1],
  [1, 16, 1],
  [4, 16, 1],
  [16, 16, 1],
  [4, 64, 1],
  [16, 64, 1],
  [4, 0, 16],
  [16, 0, 16],
  [4, 4, 16],
  [16, 16, 16],
];

/** Measures all costs except those that are found by comparing a simulation with a measured run. */
export async function measureCosts(): Promise<Omit<Costs, 'busy' | 'switchMs'>> {
  const engine = await Engine.start(['track_wal_io_timing=on']);
  const listener = new pg.Client(engine.url);
  let side: ProductSide | undefined;
  try {
    side = await productSide({ name: 'grow', db: engine.url, boards: BOARDS, people: 32, nodeFlags: ['--expose-gc'] });
    let heard = 0;
    listener.on('notification', () => void heard++);
    await listener.connect();
    await listener.query('LISTEN service_wake');
    const streamKib = await memoryOfStream(side);
    const meter = new Meter(engine, side, () => heard);
    await posts(side, meter, [16, 16, 1], WARM_UP_MS);
    const before = await size(engine);
    const runs: Run[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (const shape of shapes) runs.push(await posts(side, meter, shape, RUN_MS));
      runs.push(await reads(side, meter));
      runs.push(await meter.measure(() => wakes(listener)));
    }
    const posted = runs.reduce((sum, { counts }) => sum + counts.post, 0);
    const bytesPerPost = ((await size(engine)) - before) / posted;
    const sync = await engine.one("SELECT sum(fsync_time) / sum(fsyncs) AS ms FROM pg_stat_io WHERE object = 'wal'");
    const yardMs = median(runs.map((run) => run.yardMs));
    const of = (part: keyof Run['cpu']): Prices => {
      const rows = runs.map(({ counts, cpu, yardMs: then }) => ({
        counts: units.map((unit) => counts[unit]),
        sum: (cpu[part] * yardMs) / then,
      }));
      return Object.fromEntries(pricesOf(rows).map((price, n) => [units[n], price])) as Prices;
    };
    return {
      server: of('server'),
      postgres: of('postgres'),
      load: of('load'),
      idle: await measureIdle(engine, yardMs),
      yardMs,
      syncMs: Number(sync['ms']),
      bytesPerPost,
      baseKib: await rssKib(side),
      streamKib,
    };
  } finally {
    await listener.end();
    await side?.end();
    await engine.end();
  }
}

/** Counts what is done, and the CPU time that it takes. */
class Meter {
  readonly #engine: Engine;
  readonly #side: ProductSide;
  readonly #heard: () => number;

  constructor(engine: Engine, side: ProductSide, heard: () => number) {
    this.#engine = engine;
    this.#side = side;
    this.#heard = heard;
  }

  /** @param run answers what it knows itself of what was done. */
  async measure(run: () => Promise<Partial<Prices>>): Promise<Run> {
    const yard = yardstick();
    const before = await this.#now();
    const counted = await run();
    const after = await this.#now();
    const yardMs = (yard + yardstick()) / 2;
    const of = (name: keyof typeof before): number => after[name] - before[name];
    const batch = of('writes');
    return {
      counts: {
        post: 0,
        batch,
        board: batch,
        look: 0,
        feed: 0,
        news: 0,
        chunk: 0,
        frame: 0,
        read: 0,
        wake: of('heard'),
        ...counted,
      },
      cpu: { server: of('server'), postgres: of('postgres'), load: of('load') },
      yardMs,
    };
  }

  async #now() {
    const [child] = this.#side.children;
    await child!.idle();
    const { writes } = await this.#engine.one('SELECT last_value AS writes FROM change_counter');
    const { user, system } = process.cpuUsage();
    return {
      server: (await child!.usage()).cpuMs,
      postgres: await this.#engine.cpuMs(),
      load: (user + system) / 1_000,
      writes: Number(writes),
      heard: this.#heard(),
    };
  }
}

async function posts(side: ProductSide, meter: Meter, [writers, readers, boards]: Shape, ms: number): Promise<Run> {
  const looks = new Looks(boards);
  const follow: ProductSide['follow'] = (reader, board, onMessage) =>
    side.follow(reader, board, (id, at) => {
      looks.saw(reader, board, at);
      onMessage(id, at);
    });
  const load = await Fanout.open({ ...side, follow, boards }, writers, readers);
  try {
    return await meter.measure(async () => {
      await load.run(ms);
      // Where each writer has a board to itself, each post is of another board of its batch.
      const board = boards > 1 ? { board: load.posts } : {};
      return { post: load.posts, frame: load.deliveries.length, ...looks.counts, ...board };
    });
  } finally {
    load.close();
  }
}

/** Counts looks by what they bring: the news of a board come to a stream at one moment, and those of several boards once each. */
class Looks {
  readonly counts = { look: 0, feed: 0, news: 0, chunk: 0 };
  readonly #boards: number;
  readonly #last: number[] = [];
  #seen = new Set<number>();

  constructor(boards: number) {
    this.#boards = boards;
  }

  saw(reader: number, board: number, at: number): void {
    // All who follow a board hear of the same looks.
    const first = reader < this.#boards;
    if (first) this.counts.news++;
    if (this.#last[reader] === at) return;
    this.#last[reader] = at;
    this.counts.chunk++;
    if (!first) return;
    this.counts.feed++;
    if (this.counts.look === 0 || this.#seen.has(board)) {
      this.counts.look++;
      this.#seen = new Set();
    }
    this.#seen.add(board);
  }
}

/** Wake-ups as another process sends them, of a board that nobody follows. */
async function wakes(client: pg.Client): Promise<Partial<Prices>> {
  const payload = JSON.stringify({ from: 'bench', keys: ['board:none'] });
  for (let n = 0; n < WAKES; n++) await client.query("SELECT pg_notify('service_wake', $1)", [payload]);
  return {};
}

function reads(side: ProductSide, meter: Meter): Promise<Run> {
  return meter.measure(async () => {
    const until = performance.now() + RUN_MS;
    let read = 0;
    await Promise.all(
      Array.from({ length: READERS }, async (_, n) => {
        const wire = await Wire.open(side.url(n));
        for (; performance.now() < until; read++) {
          const { status, body } = await wire.send(side.read(n, 0));
          if (status !== 200) throw new Error(`a read got ${status}: ${body.toString()}`);
        }
        wire.close();
      }),
    );
    return { read };
  });
}

const rssKib = async ({ children: [child] }: ProductSide): Promise<number> => (await child!.usage(true)).rss / 1024;

/** What the server, as it is at first, takes for each stream on which nothing happens. */
async function memoryOfStream(side: ProductSide): Promise<number> {
  const open = (_: unknown, n: number) => side.follow(n, n % BOARDS, () => {});
  const openAll = (count: number) => Promise.all(Array.from({ length: count }, open));
  const streams = await openAll(FIRST_STREAMS);
  const before = await rssKib(side);
  streams.push(...(await openAll(IDLE_STREAMS)));
  await side.children[0]!.idle();
  const after = await rssKib(side);
  for (const stream of streams) stream.close();
  return (after - before) / IDLE_STREAMS;
}

const size = async (engine: Engine): Promise<number> =>
  Number((await engine.one("SELECT pg_database_size('bench') AS n"))['n']);
