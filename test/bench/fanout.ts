/**
 * The same load for any server: writers that post with a key of their own each, the next once the last is answered, and readers who
 * follow. What is measured is the answer and the delivery, each from before the post is sent; every reader has to get every message once.
 */
import { until } from '../support/until.ts';
import { quantile, round } from './measure.ts';
import { type Answer, Wire } from './wire.ts';

type Id = number | string;

/** A server as the load sees it. Writer and reader `n` are on board `n % boards`. */
export interface Side {
  name: string;
  boards: number;
  /** The server that a writer or reader talks to, where there are several. */
  url(n: number): string;
  post(writer: number, board: number): Buffer;
  /** What readers will know a post by, from its answer. */
  posted(body: Buffer): Id;
  follow(reader: number, board: number, onMessage: (id: Id, at: number) => void): Promise<Following>;
}

interface Following {
  readonly problem: string | null;
  close(): void;
}

interface Reader {
  board: number;
  ids: Id[];
  times: number[];
  following: Following;
}

const LIMIT_MS = 60_000;

export class Fanout {
  readonly #side: Side;
  readonly #writers: number;
  readonly #readers: Reader[];
  /** Milliseconds. */
  answers: number[] = [];
  deliveries: number[] = [];
  /** Posts a second of each run. */
  rates: number[] = [];
  posts = 0;
  /** Answers that the server is busy. */
  busy = 0;

  private constructor(side: Side, writers: number, readers: Reader[]) {
    this.#side = side;
    this.#writers = writers;
    this.#readers = readers;
  }

  static async open(side: Side, writers: number, readers: number): Promise<Fanout> {
    const open = async (n: number): Promise<Reader> => {
      const reader = { board: n % side.boards, ids: [] as Id[], times: [] as number[] };
      const onMessage = (id: Id, at: number): void => {
        reader.ids.push(id);
        reader.times.push(at);
      };
      return Object.assign(reader, { following: await side.follow(n, reader.board, onMessage) });
    };
    const all: Reader[] = [];
    // A hundred at a time: thousands at once would only wait in the queue of the socket.
    for (let n = 0; n < readers; n += 100)
      all.push(...(await Promise.all(Array.from({ length: Math.min(100, readers - n) }, (_, k) => open(n + k)))));
    return new Fanout(side, writers, all);
  }

  /** Drops what was measured so far, but for the number of posts. */
  forget(): void {
    this.answers = [];
    this.deliveries = [];
    this.rates = [];
  }

  /**
   * Every writer posts until the time is over, as fast as it is answered or with a rest between two; ends when every reader has
   * everything. @throws Error if a reader did not get every message of its board exactly once
   */
  async run(ms: number, restMs = 0): Promise<void> {
    const sent = Array.from({ length: this.#side.boards }, () => new Map<Id, number>());
    // Opened for each run: a server closes connections that lie idle meanwhile.
    const open = (_: unknown, n: number): Promise<Wire> => Wire.open(this.#side.url(n));
    const wires = await Promise.all(Array.from({ length: this.#writers }, open));
    const start = performance.now();
    await Promise.all(
      wires.map(async (wire, writer) => {
        const board = writer % this.#side.boards;
        while (performance.now() - start < ms) {
          const request = this.#side.post(writer, board);
          const at = performance.now();
          const answer = await this.#send(wire, request);
          sent[board]!.set(this.#checked(answer), at);
          this.answers.push(answer.at - at);
          if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
        }
      }),
    );
    const elapsed = performance.now() - start;
    for (const wire of wires) wire.close();
    const count = sent.reduce((sum, { size }) => sum + size, 0);
    this.rates.push(count / (elapsed / 1000));
    this.posts += count;
    const complete = (): boolean => this.#readers.every(({ board, ids }) => ids.length >= sent[board]!.size);
    await until(complete, `all readers of ${this.#side.name} have all messages`, LIMIT_MS);
    for (const reader of this.#readers) this.#settle(reader, sent[reader.board]!);
  }

  /** Sends a post, again and with the same key while the server says that it is busy; all of that time counts. */
  async #send(wire: Wire, request: Buffer): Promise<Answer> {
    for (;;) {
      const answer = await wire.send(request);
      if (answer.status !== 503) return answer;
      this.busy++;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  #checked({ status, body }: Answer): Id {
    if (status !== 201) throw new Error(`a post to ${this.#side.name} got ${status}: ${body.toString()}`);
    return this.#side.posted(body);
  }

  #settle(reader: Reader, sent: Map<Id, number>): void {
    const { following, ids, times } = reader;
    const each = new Set(ids);
    if (following.problem !== null) throw new Error(`${this.#side.name}: ${following.problem}`);
    if (ids.length !== sent.size || each.size !== sent.size)
      throw new Error(
        `a reader of ${this.#side.name} got ${ids.length}, ${each.size} of them different, of ${sent.size}`,
      );
    ids.forEach((id, n) => {
      const at = sent.get(id);
      if (at === undefined) throw new Error(`a reader of ${this.#side.name} got ${id}, which nobody posted`);
      this.deliveries.push(times[n]! - at);
    });
    reader.ids = [];
    reader.times = [];
  }

  close(): void {
    for (const { following } of this.#readers) following.close();
  }
}

/** Median and 99th percentile, in milliseconds. */
export const spread = (samples: readonly number[]): string =>
  `${round(quantile(samples, 0.5), 1)} / ${round(quantile(samples, 0.99), 1)} ms`;
