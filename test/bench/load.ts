/**
 * Whether memory stays flat: 50 people, 500 agents, 100 streams and 500 waiting inboxes on 20 boards, with posts, pages and
 * searches all the while. Two minutes unless `--minutes=30` says otherwise; only a long one shows anything.
 */
import { Audience } from './audience.ts';
import { serverSide } from './crowd.ts';
import { type Figure, round } from './measure.ts';
import { crowdOf, usual } from './streams.ts';
import type { Product } from './world.ts';

const WRITERS = 4;
/** Between two posts of a writer: 20 a second reach 500 inboxes and 100 streams. */
const REST_MS = 200;
const READ_EVERY_MS = 2_000;
const SAMPLE_EVERY_MS = 5_000;
/** Shown of the series. */
const POINTS = 10;
/** From so many minutes on growth would show. */
const LONG = 10;
const TARGET = 1.1;
const MIB = 1_048_576;

interface Sample {
  /** Minutes since the beginning. */
  at: number;
  /** MiB. */
  rss: number;
  heap: number;
}

/** @param minutes how long the load goes on. */
export async function load(minutes: number): Promise<Figure[]> {
  const side = await serverSide(crowdOf(usual));
  const audience = await Audience.gather(side, usual);
  const product = side.served as Product;
  const samples: Sample[] = [];
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) / 60_000;
  let failed: Error | null = null;
  const sampling = every(SAMPLE_EVERY_MS, async () => {
    const { rss, heapUsed } = await product.child.usage();
    samples.push({ at: elapsed(), rss: rss / MIB, heap: heapUsed / MIB });
  });
  const reading = every(READ_EVERY_MS, async () => {
    const board = `b${samples.length % usual.boards}`;
    await product.call('GET', `/v1/boards/${board}/messages?newest=true&limit=50`);
    await product.call('GET', `/v1/search?board=${board}&q=build`);
    await product.call('GET', '/v1/boards');
  });
  for (const each of [sampling, reading]) {
    each.failed.catch((error: Error) => {
      failed = error;
    });
  }
  try {
    const posts = await audience.burst(WRITERS, () => failed === null && elapsed() < minutes, REST_MS);
    if (failed) throw failed;
    audience.check();
    return figuresOf(samples, posts, minutes);
  } finally {
    sampling.stop();
    reading.stop();
    await audience.end();
  }
}

/** Does it again and again, one after the other, until it is stopped or fails. */
function every(ms: number, act: () => Promise<void>): { stop(): void; failed: Promise<never> } {
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    const next = (): void => {
      timer = setTimeout(() => act().then(next, reject), ms);
    };
    next();
  });
  return { stop: () => clearTimeout(timer), failed };
}

function figuresOf(samples: Sample[], posts: number, minutes: number): Figure[] {
  const third = Math.floor(samples.length / 3);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const ratio = mean(last.map(({ rss }) => rss)) / mean(middle.map(({ rss }) => rss));
  const series = (of: 'rss' | 'heap'): string =>
    Array.from({ length: POINTS }, (_, n) => samples[Math.floor((n * (samples.length - 1)) / (POINTS - 1))])
      .map((sample) => round(sample?.[of] ?? 0, 0))
      .join(' ');
  return [
    { name: `load: ${round(minutes, 1)} minutes, ${posts} posts`, value: 'all once' },
    { name: 'load: RSS from beginning to end', value: `${series('rss')} MiB` },
    { name: 'load: heap in use from beginning to end', value: `${series('heap')} MiB` },
    { name: 'load: slope of RSS in the last two thirds', value: `${round(slope([...middle, ...last]) * 60, 1)} MiB/h` },
    {
      name: 'load: RSS of the last third to that of the middle one',
      value: round(ratio),
      ratio,
      ...(minutes >= LONG ? { target: { op: '<=' as const, value: TARGET } } : {}),
    },
  ];
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** By least squares: MiB a minute. */
function slope(samples: readonly Sample[]): number {
  const at = mean(samples.map((sample) => sample.at));
  const rss = mean(samples.map((sample) => sample.rss));
  const both = samples.reduce((sum, sample) => sum + (sample.at - at) * (sample.rss - rss), 0);
  return both / samples.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0);
}
