/**
 * This server on Postgres in the shapes that a team meets: one board and sixteen, a database that is 5 ms away, two and four server
 * processes on it, agents who post through both; and how many transactions ran into each other.
 */
import pg from 'pg';
import { type Delayed, delayed } from './delay.ts';
import { type Conflict, Engine } from './engine.ts';
import { Fanout, spread } from './fanout.ts';
import { type Figure, median, round } from './measure.ts';
import { type ProductShape, productSide } from './sides.ts';

export const WRITERS = 16;
export const READERS = 16;
const ROUNDS = 6;
const ROUND_MS = 2_500;
const WARM_UP_MS = 8_000;
/** Each way: 5 ms for a question and its answer. */
const AWAY_MS = 2.5;

interface Shape extends ProductShape {
  away?: true;
  /** Posts a second that it is to reach. */
  target?: number;
}

interface Measured {
  figures: Figure[];
  posts: number;
  /** Posts a second of each round. */
  rates: number[];
}

const shapes: Shape[] = [
  { name: '1 board', boards: 1 },
  { name: '16 boards', boards: 16, target: 2_000 },
  { name: '1 board, 5 ms away', boards: 1, away: true, target: 400 },
  { name: '16 boards, 5 ms away', boards: 16, away: true },
  { name: '1 board, 2 processes', boards: 1, processes: 2 },
  { name: '1 board, 4 processes', boards: 1, processes: 4 },
  { name: '16 boards, 2 processes', boards: 16, processes: 2 },
  { name: '16 boards, 4 processes', boards: 16, processes: 4 },
  // An odd number: each agent posts through both processes.
  { name: '3 boards, 2 processes, agents', boards: 3, processes: 2, agents: 3 },
];
/** In so many posts at least, transactions are not to run into each other. */
const POSTS = 100_000;
/** Less than a transaction of several boards waits for a lock: a deadlock is found as one. */
const FLAGS = ['deadlock_timeout=100ms'];

export async function postgres(): Promise<Figure[]> {
  const figures: Figure[] = [];
  let posts = 0;
  const conflicts = new Map<Conflict, number>();
  for (const shape of shapes) {
    const engine = await Engine.start(FLAGS);
    try {
      const measured = await measure(shape, engine);
      figures.push(...measured.figures);
      posts += measured.posts;
      for (const [name, count] of engine.conflicts()) conflicts.set(name, (conflicts.get(name) ?? 0) + count);
    } finally {
      await engine.end();
    }
  }
  return [
    ...figures,
    {
      name: 'Postgres: posts in which the following were counted',
      value: String(posts),
      ratio: posts,
      target: { op: '>=', value: POSTS },
    },
    ...[...conflicts].map(
      ([name, count]): Figure => ({
        name: `Postgres: ${name}`,
        value: String(count),
        ratio: count,
        target: { op: '<=', value: 0 },
      }),
    ),
  ];
}

/** @param between is called before and after each round, while nothing else runs. */
export async function measure(
  { away, target, ...shape }: Shape,
  engine: Engine,
  between = () => {},
): Promise<Measured> {
  const before = await engine.syncs();
  const network: Delayed | null = away ? await delayed(engine.port, AWAY_MS) : null;
  const url = new URL(engine.url);
  if (network) url.port = String(network.port);
  const figures: Figure[] = [];
  const add = (name: string, value: string, more: Partial<Figure> = {}): void =>
    void figures.push({ name: `Postgres, ${shape.name}: ${name}`, value, ...more });
  try {
    if (network) add('a query and its answer', `${round(await roundTrip(url.href), 1)} ms`);
    const side = await productSide({ ...shape, db: url.href });
    let load: Fanout | null = null;
    try {
      load = await Fanout.open(side, WRITERS, READERS);
      // Each process compiles what it runs often for itself.
      await load.run(WARM_UP_MS * (shape.processes ?? 1));
      load.forget();
      between();
      for (let n = 0; n < ROUNDS; n++) {
        await load.run(ROUND_MS);
        between();
      }
      load.close();
    } finally {
      await side.end();
    }
    const rate = median(load.rates);
    add('posts/s', round(rate, 0), {
      chart: { title: 'Posts per second on Postgres', label: shape.name, value: rate },
      ...(target !== undefined && { ratio: rate, target: { op: '>=', value: target } }),
    });
    add('answer, p50 / p99', spread(load.answers));
    add('delivery, p50 / p99', spread(load.deliveries));
    add('syncs of the log for a post', round(((await engine.syncs()) - before) / load.posts));
    if (load.busy > 0) add('answers that the server is busy, after which a post was sent again', String(load.busy));
    return { figures, posts: load.posts, rates: load.rates };
  } finally {
    network?.close();
  }
}

/** The median of a query that asks for nothing. */
async function roundTrip(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const times: number[] = [];
  for (let n = 0; n < 50; n++) {
    const from = performance.now();
    await client.query('SELECT 1');
    times.push(performance.now() - from);
  }
  await client.end();
  return median(times);
}
