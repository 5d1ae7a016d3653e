/**
 * Many at once on one server: 10,000 streams, the most it allows, of a board on which nothing happens; then 2,000 of them follow another
 * board instead, which is posted to. And 60 posts to a board with 500 agents who wait.
 */
import { Audience } from './audience.ts';
import { serverSide } from './crowd.ts';
import { Engine } from './engine.ts';
import { Fanout, spread } from './fanout.ts';
import { type Figure, round } from './measure.ts';
import { productSide } from './sides.ts';

const IDLE = 10_000;
const LIVE = 2_000;
/** 32 streams to a credential are the most. */
const PEOPLE = 400;
const RUN_MS = 30_000;
/** Between two posts of the two writers: four posts a second are 8,000 frames. */
const REST_MS = 500;
const AGENTS = 500;
const POSTS = 60;
const MIB = 1_048_576;

export async function many(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of ['SQLite', 'Postgres']) {
    const engine = name === 'Postgres' ? await Engine.start() : undefined;
    try {
      figures.push(...(await streams(name, engine?.url)), ...(await agents(name, engine && (await engine.another()))));
    } finally {
      await engine?.end();
    }
  }
  return figures;
}

async function streams(name: string, db?: string): Promise<Figure[]> {
  const side = await productSide({ name, db, boards: 2, people: PEOPLE, nodeFlags: ['--expose-gc'] });
  const [child] = side.children;
  const rss = async (): Promise<number> => (await child!.usage(true)).rss / MIB;
  const idle: { close(): void }[] = [];
  let events = 0;
  try {
    const before = await rss();
    for (let n = 0; n < IDLE; n += 100) {
      const open = (_: unknown, k: number) => side.follow(n + k, 1, () => void events++);
      idle.push(...(await Promise.all(Array.from({ length: 100 }, open))));
    }
    await child!.idle();
    const withIdle = await rss();
    for (const stream of idle.splice(-LIVE)) stream.close();
    await child!.idle();
    const load = await Fanout.open({ ...side, boards: 1 }, 2, LIVE);
    await load.run(RUN_MS / 6, REST_MS);
    load.forget();
    await load.run(RUN_MS, REST_MS);
    const after = await rss();
    load.close();
    if (events > 0) throw new Error(`${events} events on streams of a board without any`);
    const of = `${IDLE - LIVE} idle and ${LIVE} live streams on ${name}`;
    return [
      { name: `${of}: delivery, p50 / p99`, value: spread(load.deliveries), headline: true },
      { name: `${of}: answer, p50 / p99`, value: spread(load.answers) },
      {
        name: `RSS on ${name} before, with ${IDLE} idle streams, after the posts`,
        value: `${[before, withIdle, after].map((n) => round(n, 0)).join(' / ')} MiB`,
        headline: true,
      },
      { name: `${of}: ${load.deliveries.length} messages, each once`, value: 'yes' },
    ];
  } finally {
    for (const stream of idle) stream.close();
    await side.end();
  }
}

/** How long 60 posts take until 500 agents, who wait for each, have them all, in order and once. */
async function agents(name: string, db?: string): Promise<Figure[]> {
  const shape = { boards: 1, streamsPerBoard: 0, waitsPerBoard: AGENTS };
  const audience = await Audience.gather(
    await serverSide({ boards: 1, people: 50, seatsEach: AGENTS / 50 }, [], db),
    shape,
  );
  try {
    await audience.round();
    const start = performance.now();
    await audience.burst(1, (posts) => posts < POSTS);
    const ms = performance.now() - start;
    audience.check();
    return [{ name: `${POSTS} posts until ${AGENTS} waiting agents on ${name} have all`, value: `${round(ms, 0)} ms` }];
  } finally {
    await audience.end();
  }
}
