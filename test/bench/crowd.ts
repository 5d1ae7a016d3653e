/** Boards with many people and their agents on them, for benchmarks that need many credentials. */
import { rmSync } from 'node:fs';
import { addPeople, type BenchPerson } from './people.ts';
import { request } from './wire.ts';
import { newFolder, type Product, type Served, startFloor, startProduct } from './world.ts';

/** One of the two servers under the same load: what to send to it, and how to read its answers. */
export interface Side {
  name: 'server' | 'floor';
  served: Served;
  post(board: number): Buffer;
  /** @param n which of the people on that board follows it, with their key. */
  stream(board: number, n: number): Buffer;
  /** @param n which of the agents on that board waits for its inbox. */
  wait(board: number, n: number, after: number): Buffer;
  /** The number of a post, from its answer. */
  posted(body: Buffer): number;
  /** The numbers a wait was answered with. */
  arrived(body: Buffer): number[];
  /** The board's last number when everybody is there. */
  head(board: number): number;
}

export interface Crowd {
  boards: number;
  people: number;
  /** Agents of each person, spread over the boards. */
  seatsEach: number;
}

let count = 0;

const post = (): string => JSON.stringify({ body: `Message ${++count}. ${'The build is green again. '.repeat(7)}` });

const keyed = (key: string): Record<string, string> => ({
  Authorization: `Bearer ${key}`,
  'Idempotency-Key': `bench-${++count}`,
});

/** The agents of one board and their people, in the same order; a person with several is there several times. */
interface OnBoard {
  tokens: string[];
  people: BenchPerson[];
}

/** The product with these people and agents on its boards. @param db default: SQLite */
export async function serverSide(crowd: Crowd, nodeFlags: string[] = [], db?: string): Promise<Side> {
  const dataDir = newFolder('crowd');
  await (await startProduct({ dataDir, db })).end();
  const people = await addPeople(dataDir, crowd.people, db);
  const product = await startProduct({ dataDir, nodeFlags, db });
  const boards = await seatAll(product, people, crowd);
  const heads: number[] = [];
  for (let n = 0; n < crowd.boards; n++) {
    heads.push((await product.call<{ head_seq: number }>('GET', `/v1/boards/b${n}`)).head_seq);
  }
  const { url, key } = product;
  const end = async (): Promise<void> => {
    await product.end();
    rmSync(dataDir, { recursive: true, force: true });
  };
  // Another of a board's people for each stream, and other ones on each board: nobody opens more than they may.
  const follower = (board: number, n: number): string => {
    const there = boards[board]?.people ?? [];
    return there[(board * 7 + n) % there.length]?.key ?? '';
  };
  return {
    name: 'server',
    served: { ...product, end },
    post: (board) => request(url, 'POST', `/v1/boards/b${board}/messages`, keyed(key), post()),
    stream: (board, n) =>
      request(url, 'GET', `/v1/stream?board=b${board}`, { Authorization: `Bearer ${follower(board, n)}` }),
    wait: (board, n, after) =>
      request(url, 'GET', `/v1/me/inbox?wait=60&after=${after}`, {
        Authorization: `Bearer ${boards[board]?.tokens[n]}`,
      }),
    posted: (body) => (JSON.parse(body.toString()) as { seq: number }).seq,
    arrived: (body) => (JSON.parse(body.toString()) as { messages: { seq: number }[] }).messages.map(({ seq }) => seq),
    head: (board) => heads[board] ?? 0,
  };
}

async function seatAll(product: Product, people: BenchPerson[], { boards, seatsEach }: Crowd): Promise<OnBoard[]> {
  const all: OnBoard[] = [];
  for (let n = 0; n < boards; n++) {
    await product.call('POST', '/v1/boards', { name: `b${n}`, preset: 'starter' });
    all.push({ tokens: [], people: [] });
  }
  let seat = 0;
  for (const person of people) {
    for (let n = 0; n < seatsEach; n++) {
      const at = seat++ % boards;
      const there = all[at] as OnBoard;
      if (!there.people.includes(person)) {
        await product.call('POST', `/v1/boards/b${at}/people`, { handle: person.handle });
      }
      there.people.push(person);
      there.tokens.push(await join(product, `b${at}`, person.key));
    }
  }
  return all;
}

/** A seat; a server takes only so many joins a minute, so a large crowd waits for the next one. */
async function join(product: Product, board: string, key: string): Promise<string> {
  for (;;) {
    try {
      return (await product.call<{ token: string }>('POST', '/v1/join', { board, role: 'member' }, key)).token;
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
    wait: (board, _n, after) => request(url, 'GET', `/b${board}/wait?after=${after}`, headers),
    posted: (body) => (JSON.parse(body.toString()) as { seq: number }).seq,
    arrived: (body) => [(JSON.parse(body.toString()) as { seq: number }).seq],
    head: () => 0,
  };
}
