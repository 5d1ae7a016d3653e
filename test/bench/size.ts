/** Whether a board's length matters: a keyed post and an inbox read on boards of 1,000, 100,000 and 1,000,000 events. */
import { randomUUID } from 'node:crypto';
import { newIdempotencyKey } from '../../src/client/idempotency.ts';
import { BOARD, filledFolder, indexed } from './filled.ts';
import { type Figure, median, round } from './measure.ts';
import { request, Wire } from './wire.ts';
import { type Product, startProduct } from './world.ts';

const SIZES = [1_000, 100_000, 1_000_000] as const;
const ROUNDS = 40;
const WARM_UP_ROUNDS = 8;
const PER_ROUND = 25;
const UNREAD = 20;
const TARGET = 1.3;

interface Cost {
  ms: number;
  cpuMs: number;
}

interface Lane {
  size: number;
  product: Product;
  /** Opened last: a server closes connections that say nothing while the next one is made ready. */
  wire: Wire | null;
  agentToken: string;
  posts: Cost[];
  inboxes: Cost[];
}

export async function size(): Promise<Figure[]> {
  const lanes: Lane[] = [];
  try {
    for (const events of SIZES) lanes.push(await laneOf(events));
    for (const lane of lanes) lane.wire = await Wire.open(lane.product.url);
    for (let n = 0; n < WARM_UP_ROUNDS + ROUNDS; n++) {
      if (n === WARM_UP_ROUNDS) for (const lane of lanes) forget(lane);
      for (const lane of lanes) await oneRound(lane);
    }
    return [...figuresOf(lanes, 'keyed post', 'posts'), ...figuresOf(lanes, 'inbox read', 'inboxes')];
  } finally {
    for (const { wire, product } of lanes) {
      wire?.close();
      await product.end();
    }
  }
}

function forget(lane: Lane): void {
  lane.posts = [];
  lane.inboxes = [];
}

async function laneOf(events: number): Promise<Lane> {
  const { dataDir, agentToken } = await filledFolder(events);
  const product = await startProduct({ dataDir });
  // What is indexed for the first time takes its share of the server, whatever is asked of it.
  await indexed(product);
  return { size: events, product, wire: null, agentToken, posts: [], inboxes: [] };
}

/** Some posts, then the agent's position so that 20 are unread, then some reads of its inbox. */
async function oneRound(lane: Lane): Promise<void> {
  const { url, key, call } = lane.product;
  const wire = lane.wire as Wire;
  let seq = 0;
  lane.posts.push(
    await cost(lane, async () => {
      const body = JSON.stringify({ body: `Message ${randomUUID()}. ${'The build is green again. '.repeat(5)}` });
      const headers = { Authorization: `Bearer ${key}`, 'Idempotency-Key': newIdempotencyKey() };
      const answer = await wire.send(request(url, 'POST', `/v1/boards/${BOARD}/messages`, headers, body));
      if (answer.status !== 201) throw new Error(`a post got ${answer.status}: ${answer.body.toString()}`);
      seq = (JSON.parse(answer.body.toString()) as { seq: number }).seq;
    }),
  );
  await call('POST', '/v1/me/inbox/ack', { up_to: seq - UNREAD }, lane.agentToken);
  const read = request(url, 'GET', '/v1/me/inbox', { Authorization: `Bearer ${lane.agentToken}` });
  lane.inboxes.push(
    await cost(lane, async () => {
      const answer = await wire.send(read);
      const { unread } = JSON.parse(answer.body.toString()) as { unread: number };
      if (unread !== UNREAD) throw new Error(`the inbox has ${unread} unread messages`);
    }),
  );
}

/** The median time of a call, and what it costs the server on average. */
async function cost({ product }: Lane, act: () => Promise<void>): Promise<Cost> {
  const times: number[] = [];
  const before = await product.child.usage();
  for (let n = 0; n < PER_ROUND; n++) {
    const start = performance.now();
    await act();
    times.push(performance.now() - start);
  }
  return { ms: median(times), cpuMs: ((await product.child.usage()).cpuMs - before.cpuMs) / PER_ROUND };
}

function figuresOf(lanes: Lane[], name: string, of: 'posts' | 'inboxes'): Figure[] {
  const values = (pick: keyof Cost): number[] => lanes.map((lane) => median(lane[of].map((cost) => cost[pick])));
  const line = (pick: keyof Cost): string =>
    `${values(pick)
      .map((value) => round(value))
      .join(' / ')} ms`;
  // Round by round, so that whatever else the machine does falls on both alike.
  const ratio = (pick: keyof Cost): number => {
    const [small, , large] = lanes.map((lane) => lane[of].map((cost) => cost[pick]));
    return median((large as number[]).map((value, n) => value / (small?.[n] ?? Number.NaN)));
  };
  return [
    { name: `${name} at 1,000 / 100,000 / 1,000,000`, value: line('ms') },
    { name: `CPU per ${name} at the same`, value: line('cpuMs') },
    {
      name: `size: ${name}, 1,000,000 to 1,000`,
      value: round(ratio('ms')),
      ratio: ratio('ms'),
      target: { op: '<=', value: TARGET },
    },
    { name: `size: CPU per ${name}, the same`, value: round(ratio('cpuMs')), ratio: ratio('cpuMs') },
  ];
}
