/** Boards with people's agents on them, for benchmarks that need many credentials. */
import { request } from './wire.ts';
import { type Product, type Served, startFloor, startProduct } from './world.ts';

/** One of the two servers under the same load: what to send to it, and how to read its answers. */
export interface Side {
  name: 'server' | 'floor';
  served: Served;
  post(board: number): Buffer;
  /** @param seat which of the board's agents asks. */
  stream(board: number, seat: number): Buffer;
  wait(board: number, seat: number, after: number): Buffer;
  /** The number of a post, from its answer. */
  posted(body: Buffer): number;
  /** The numbers a wait was answered with. */
  arrived(body: Buffer): number[];
  /** The board's last number when everybody is there. */
  head(board: number): number;
}

export interface Crowd {
  boards: number;
  seats: number;
}

let count = 0;

const post = (): string => JSON.stringify({ body: `Message ${++count}. ${'The build is green again. '.repeat(7)}` });

const keyed = (key: string): Record<string, string> => ({
  Authorization: `Bearer ${key}`,
  'Idempotency-Key': `bench-${++count}`,
});

/** The product with this many boards and agents on each. */
export async function serverSide({ boards, seats }: Crowd, nodeFlags: string[] = []): Promise<Side> {
  const product = await startProduct({ nodeFlags });
  const { url, key } = product;
  const tokens: string[][] = [];
  const heads: number[] = [];
  for (let n = 0; n < boards; n++) {
    await product.call('POST', '/v1/boards', { name: `b${n}`, preset: 'starter' });
    tokens.push(await join(product, `b${n}`, seats));
    heads.push((await product.call<{ head_seq: number }>('GET', `/v1/boards/b${n}`)).head_seq);
  }
  const as = (board: number, seat: number) => ({ Authorization: `Bearer ${tokens[board]?.[seat]}` });
  return {
    name: 'server',
    served: product,
    post: (board) => request(url, 'POST', `/v1/boards/b${board}/messages`, keyed(key), post()),
    stream: (board, seat) => request(url, 'GET', `/v1/stream?board=b${board}`, as(board, seat)),
    wait: (board, seat, after) => request(url, 'GET', `/v1/me/inbox?wait=60&after=${after}`, as(board, seat)),
    posted: (body) => (JSON.parse(body.toString()) as { seq: number }).seq,
    arrived: (body) => (JSON.parse(body.toString()) as { messages: { seq: number }[] }).messages.map(({ seq }) => seq),
    head: (board) => heads[board] ?? 0,
  };
}

async function join(product: Product, board: string, seats: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < seats; n++) {
    tokens.push(await seat(product, board));
  }
  return tokens;
}

/** A seat; a server takes only so many joins a minute, so a large crowd waits for the next one. */
async function seat(product: Product, board: string): Promise<string> {
  for (;;) {
    try {
      return (await product.call<{ token: string }>('POST', '/v1/join', { board, role: 'member' })).token;
    } catch (error) {
      const [, seconds] = /"retry_after_seconds":(\d+)/.exec(String(error)) ?? [];
      if (seconds === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1_000));
    }
  }
}

/** The floor takes the same requests, credentials included, so that parsing them costs it the same. */
export async function floorSide(nodeFlags: string[] = []): Promise<Side> {
  const floor = await startFloor({ nodeFlags });
  const { url } = floor;
  const token = 'x'.repeat(47);
  const headers = { Authorization: `Bearer ${token}` };
  return {
    name: 'floor',
    served: floor,
    post: (board) => request(url, 'POST', `/b${board}`, keyed(token), post()),
    stream: (board) => request(url, 'GET', `/b${board}/stream`, headers),
    wait: (board, _seat, after) => request(url, 'GET', `/b${board}/wait?after=${after}`, headers),
    posted: (body) => (JSON.parse(body.toString()) as { seq: number }).seq,
    arrived: (body) => [(JSON.parse(body.toString()) as { seq: number }).seq],
    head: () => 0,
  };
}
