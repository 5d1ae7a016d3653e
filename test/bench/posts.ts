/** How many keyed, durable posts per second 16 writers get out of the server, against the floor in the same minute. */
import { newIdempotencyKey } from '../../src/client/idempotency.ts';
import { type Figure, median, ownCpu, round } from './measure.ts';
import { profileFlags, reportProfile } from './profile.ts';
import { request, Wire } from './wire.ts';
import { startFloor, startProduct } from './world.ts';

const WRITERS = 16;
const ROUNDS = 9;
const ROUND_MS = 1_500;
/** Until the engine has compiled what is hot. */
const WARM_UP_MS = 5_000;
const TARGET = 0.6;

const filler = 'The build is green again after the change to the retry loop, and the release notes are up for review. ';

/** About 200 characters, different each time. */
const text = (n: number): string => `Message ${n}. ${filler}${filler}`.slice(0, 200);

interface Lane {
  url: string;
  path: string;
  key: string;
  wires: Wire[];
}

/** @param profile whether to profile the server instead of comparing it. */
export async function posts(profile: boolean): Promise<Figure[]> {
  const product = await startProduct({ nodeFlags: profile ? profileFlags('posts') : [] });
  const floor = await startFloor();
  try {
    await product.call('POST', '/v1/boards', { name: 'bench' });
    const ours = await lane(product.url, '/v1/boards/bench/messages', product.key);
    const bare = await lane(floor.url, '/bench', product.key);
    await run(ours, WARM_UP_MS);
    if (profile) {
      await run(ours, 5 * ROUND_MS);
      return [];
    }
    await run(bare, WARM_UP_MS);
    const rates: { ours: number; bare: number; load: number; server: number }[] = [];
    for (let n = 0; n < ROUNDS; n++) {
      const before = await product.child.usage();
      const our = await run(ours, ROUND_MS);
      const server = ((await product.child.usage()).cpuMs - before.cpuMs) / ROUND_MS;
      const their = await run(bare, ROUND_MS);
      rates.push({ ours: our.rate, bare: their.rate, load: Math.max(our.cpu, their.cpu), server });
    }
    const ratio = median(rates.map((rate) => rate.ours / rate.bare));
    return [
      { name: 'posts/s of the server', value: round(median(rates.map((rate) => rate.ours)), 0) },
      { name: 'posts/s of the floor', value: round(median(rates.map((rate) => rate.bare)), 0) },
      { name: 'posts: server to floor', value: round(ratio), ratio, target: { op: '>=', value: TARGET } },
      { name: 'posts: cores the server used', value: round(median(rates.map((rate) => rate.server))) },
      { name: 'posts: cores the load used, worst', value: round(Math.max(...rates.map((rate) => rate.load))) },
    ];
  } finally {
    await Promise.all([product.end(), floor.end()]);
    if (profile) reportProfile('posts');
  }
}

async function lane(url: string, path: string, key: string): Promise<Lane> {
  return { url, path, key, wires: await Promise.all(Array.from({ length: WRITERS }, () => Wire.open(url))) };
}

let count = 0;

/** Lets every writer post as fast as it is answered; answers posts per second and the load's own share of a core. */
async function run({ url, path, key, wires }: Lane, ms: number): Promise<{ rate: number; cpu: number }> {
  const cpu = ownCpu();
  const start = performance.now();
  let done = 0;
  await Promise.all(
    wires.map(async (wire) => {
      while (performance.now() - start < ms) {
        const body = JSON.stringify({ body: text(++count) });
        const headers = { Authorization: `Bearer ${key}`, 'Idempotency-Key': newIdempotencyKey() };
        const answer = await wire.send(request(url, 'POST', path, headers, body));
        if (answer.status !== 201) throw new Error(`a post got ${answer.status}: ${answer.body.toString()}`);
        done++;
      }
    }),
  );
  return { rate: done / ((performance.now() - start) / 1000), cpu: cpu() };
}
