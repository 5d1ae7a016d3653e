/**
 * What reading costs on a board of 1,000,000 events against one of 10,000: a page of the timeline, a thread, an inbox, a
 * search, and a check of what came after a checkpoint.
 */
import { createHash } from 'node:crypto';
import { Client } from '../../src/client/client.ts';
import { verifyBoard } from '../../src/client/verify.ts';
import { BOARD, filledFolder, indexed } from './filled.ts';
import { type Figure, median, round } from './measure.ts';
import { type Product, startProduct } from './world.ts';

const SIZES = [10_000, 1_000_000] as const;
const ROUNDS = 60;
const WARM_UP_ROUNDS = 15;
const REPLIES = 30;
const UNREAD = 20;
const TARGET = 1.5;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Lane {
  product: Product;
  reads: Record<string, () => Promise<unknown>>;
  times: Record<string, number[]>;
  indexedMs: number;
}

export async function longBoard(): Promise<Figure[]> {
  const lanes: Lane[] = [];
  try {
    for (const events of SIZES) await filledFolder(events);
    for (const events of SIZES) lanes.push(await laneOf(events));
    for (let n = 0; n < WARM_UP_ROUNDS + ROUNDS; n++) {
      for (const lane of lanes) {
        if (n === WARM_UP_ROUNDS) lane.times = {};
        for (const [name, read] of Object.entries(lane.reads)) {
          const start = performance.now();
          await read();
          // biome-ignore lint/suspicious/noAssignInExpressions: the list is made at its first entry
          (lane.times[name] ??= []).push(performance.now() - start);
        }
      }
    }
    return figuresOf(lanes);
  } finally {
    for (const { product } of lanes) await product.end();
  }
}

/** The filled board with a thread, some unread messages and a checkpoint at its end. */
async function laneOf(events: number): Promise<Lane> {
  const { dataDir, agentToken } = await filledFolder(events);
  const product = await startProduct({ dataDir });
  const { call } = product;
  const path = `/v1/boards/${BOARD}`;
  const post = (body: object) => call<{ id: string; seq: number }>('POST', `${path}/messages`, body);
  const { id: boardId, head_seq } = await call<{ id: string; head_seq: number }>('GET', path);
  const [last] = (await call<{ events: { seq: number; hash: string }[] }>('GET', `${path}/events?newest=true&limit=1`))
    .events;
  const checkpoint = { seq: head_seq, hash: last?.hash ?? '' };
  const root = await post({ body: 'A thread with a word of its own: chrysanthemum.' });
  for (let n = 0; n < REPLIES; n++) await post({ body: `Reply ${n}.`, reply_to: root.id, to: ['all'] });
  for (let n = 0; n < UNREAD; n++) await post({ body: `Unread ${n}.` });
  const { head_seq: head } = await call<{ head_seq: number }>('GET', path);
  await call('POST', '/v1/me/inbox/ack', { up_to: head - UNREAD }, agentToken);

  const start = performance.now();
  await indexed(product);
  const indexedMs = performance.now() - start;
  const middle = Math.floor(head / 2);
  const client = new Client({ origin: product.url, token: product.key });
  const search = (q: string) => () => call('GET', `/v1/search?board=${BOARD}&q=${q}`);
  return {
    product,
    times: {},
    indexedMs,
    reads: {
      'newest page': () => call('GET', `${path}/messages?newest=true&limit=50`),
      'page in the middle': () => call('GET', `${path}/messages?after=${middle}&limit=50`),
      'page backwards': () => call('GET', `${path}/messages?before=${middle}&newest=true&limit=50`),
      thread: () => call('GET', `/v1/messages/${root.id}/replies?limit=50`),
      threads: () => call('GET', `${path}/threads?limit=20`),
      inbox: () => call('GET', '/v1/me/inbox', undefined, agentToken),
      'verify from a checkpoint': async () => {
        const board = { id: boardId, name: BOARD };
        const { problem } = await verifyBoard(client, board, { from: checkpoint, pinned: checkpoint, sha256 });
        if (problem) throw new Error(`${problem.reason} at ${problem.seq}`);
      },
      'search for a rare word': search('chrysanthemum'),
      'search for a word of every message': search('green'),
    },
  };
}

function figuresOf(lanes: Lane[]): Figure[] {
  const [small, large] = lanes as [Lane, Lane];
  const figures = Object.keys(small.reads).flatMap((name): Figure[] => {
    const [few, many] = [median(small.times[name] ?? []), median(large.times[name] ?? [])];
    const ratio = many / few;
    const target = name.startsWith('search') ? undefined : { op: '<=' as const, value: TARGET };
    return [
      { name: `long: ${name}, 10,000 / 1,000,000`, value: `${round(few)} / ${round(many)} ms` },
      { name: `long: ${name}, ratio`, value: round(ratio), ratio, ...(target ? { target } : {}) },
    ];
  });
  const indexing = `${round(small.indexedMs / 1_000, 1)} / ${round(large.indexedMs / 1_000, 1)} s`;
  return [...figures, { name: 'long: bringing the index up to date', value: indexing }];
}
