/**
 * How soon a post reaches everybody: 100 board streams and 500 waiting inboxes on 20 boards, rounds of one post to all
 * on every board at once. A round begins when all of the last one arrived and everybody waits again.
 */
import { type Crowd, floorSide, type Side, serverSide } from './crowd.ts';
import { type Figure, median, ownCpu, quantile, round } from './measure.ts';
import { profileFlags, reportProfile } from './profile.ts';
import { Follower } from './sse.ts';
import { Wire } from './wire.ts';

interface Shape {
  boards: number;
  streamsPerBoard: number;
  waitsPerBoard: number;
}

/** 100 streams and 500 waiting inboxes. */
const usual: Shape = { boards: 20, streamsPerBoard: 5, waitsPerBoard: 25 };
/** 2,000 seats: 400 streams and 1,600 waiting inboxes. */
const large: Shape = { boards: 40, streamsPerBoard: 10, waitsPerBoard: 40 };
const LARGE_ROUNDS = 3;

const seatsOf = ({ boards, streamsPerBoard, waitsPerBoard }: Shape): Crowd => ({
  boards,
  seats: streamsPerBoard + waitsPerBoard,
});

const ROUNDS = 40;
const WARM_UP_ROUNDS = 15;
/** Within this time everything of a round has to be there. */
const ROUND_LIMIT_MS = 10_000;
const TARGET = 3;

/** @param profile whether to profile the server instead of comparing it. */
export async function streams(profile: boolean): Promise<Figure[]> {
  const server = await Audience.gather(await serverSide(seatsOf(usual), profile ? profileFlags('streams') : []), usual);
  const floor = await Audience.gather(await floorSide(), usual);
  try {
    for (let n = 0; n < WARM_UP_ROUNDS; n++) {
      await server.round();
      await floor.round();
    }
    server.forget();
    floor.forget();
    const cpu = ownCpu();
    for (let n = 0; n < ROUNDS; n++) {
      await server.round();
      if (!profile) await floor.round();
    }
    const load = cpu();
    server.check();
    floor.check();
    return profile ? [] : figuresOf(server, floor, load);
  } finally {
    await Promise.all([server.end(), floor.end()]);
    if (profile) reportProfile('streams');
  }
}

/** Whether four times as many are still all served, once and in order. */
export async function crowd(): Promise<Figure[]> {
  const server = await Audience.gather(await serverSide(seatsOf(large)), large);
  try {
    for (let n = 0; n < LARGE_ROUNDS; n++) await server.round();
    server.check();
    const share = (name: string, samples: number[]): Figure => ({
      name: `crowd: ${name} p50 / p99`,
      value: `${round(quantile(samples, 0.5))} / ${round(quantile(samples, 0.99))} ms`,
    });
    return [
      { name: `crowd: 2,000 seats on 40 boards, ${LARGE_ROUNDS} rounds`, value: 'all once' },
      share('post to frame of 400 streams', server.toFrame),
      share('post to 1,600 waiting inboxes', server.toInbox),
    ];
  } finally {
    await server.end();
  }
}

function figuresOf(server: Audience, floor: Audience, load: number): Figure[] {
  const both = (name: string, samples: (of: Audience) => number[], share: number): Figure => ({
    name: `${name} p${share * 100}, server / floor`,
    value: `${round(quantile(samples(server), share))} / ${round(quantile(samples(floor), share))} ms`,
  });
  const ratio = quantile(server.toFrame, 0.99) / quantile(floor.toFrame, 0.99);
  return [
    both('post to frame', (of) => of.toFrame, 0.5),
    both('post to frame', (of) => of.toFrame, 0.99),
    both('answer to frame', (of) => of.fromAnswer, 0.5),
    both('answer to frame', (of) => of.fromAnswer, 0.99),
    both('post to waiting inbox', (of) => of.toInbox, 0.5),
    both('post to waiting inbox', (of) => of.toInbox, 0.99),
    {
      name: 'CPU of a round, server / floor',
      value: `${round(median(server.cpu), 1)} / ${round(median(floor.cpu), 1)} ms`,
    },
    { name: 'streams: p99 of server to floor', value: round(ratio), ratio, target: { op: '<=', value: TARGET } },
    { name: 'streams: cores the load used', value: round(load) },
  ];
}

interface Waiting {
  board: number;
  seat: number;
  wire: Wire;
  last: number;
  body: Buffer | null;
}

/** Everybody who follows the boards of one side. */
class Audience {
  /** Milliseconds: from sending a post to its frame, from its answer to its frame, from sending it to the inbox. */
  readonly toFrame: number[] = [];
  readonly fromAnswer: number[] = [];
  readonly toInbox: number[] = [];
  readonly cpu: number[] = [];
  readonly #side: Side;
  readonly #shape: Shape;
  readonly #writers: Wire[] = [];
  readonly #followers: { board: number; stream: Follower }[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #heads: number[] = [];
  #sentAt: number[] = [];
  #frames: { board: number; at: number }[] = [];
  #inboxes = 0;
  #arrived: () => void = () => {};
  #problem: string | null = null;

  private constructor(side: Side, shape: Shape) {
    this.#side = side;
    this.#shape = shape;
  }

  static async gather(side: Side, shape: Shape): Promise<Audience> {
    const audience = new Audience(side, shape);
    for (let board = 0; board < shape.boards; board++) await audience.#seat(board);
    for (const waiting of audience.#waiting) audience.#wait(waiting);
    return audience;
  }

  async #seat(board: number): Promise<void> {
    const { url } = this.#side.served;
    const { streamsPerBoard, waitsPerBoard } = this.#shape;
    const head = this.#side.head(board);
    this.#heads.push(head);
    this.#writers.push(await Wire.open(url));
    for (let n = 0; n < streamsPerBoard; n++) {
      const onEvent = (_id: number, at: number): void => {
        this.#frames.push({ board, at });
        this.#count();
      };
      const stream = await Follower.open(url, this.#side.stream(board, n), onEvent);
      this.#followers.push({ board, stream });
    }
    for (let n = 0; n < waitsPerBoard; n++) {
      const seat = streamsPerBoard + n;
      this.#waiting.push({ board, seat, wire: await Wire.open(url), last: head, body: null });
    }
  }

  #wait(waiting: Waiting): void {
    waiting.body = null;
    waiting.wire.send(this.#side.wait(waiting.board, waiting.seat, waiting.last)).then(
      ({ status, body, at }) => {
        if (status !== 200) this.#problem ??= `a wait got ${status}: ${body.toString()}`;
        waiting.body = body;
        this.toInbox.push(at - (this.#sentAt[waiting.board] ?? 0));
        this.#inboxes++;
        this.#count();
      },
      (error: Error) => {
        this.#problem ??= error.message;
      },
    );
  }

  #count(): void {
    if (this.#frames.length >= this.#followers.length && this.#inboxes >= this.#waiting.length) this.#arrived();
  }

  /** One post on every board, until everybody has it; then everybody waits again. */
  async round(): Promise<void> {
    const { child } = this.#side.served;
    await child.idle();
    const before = await child.usage();
    this.#frames = [];
    this.#inboxes = 0;
    const all = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    const requests = this.#writers.map((_, board) => this.#side.post(board));
    const answers = this.#writers.map((wire, board) => {
      this.#sentAt[board] = performance.now();
      return wire.send(requests[board] as Buffer);
    });
    const answered = await Promise.all(answers);
    await this.#within(all);
    this.cpu.push((await child.usage()).cpuMs - before.cpuMs);
    for (const { board, at } of this.#frames) {
      this.toFrame.push(at - (this.#sentAt[board] ?? 0));
      this.fromAnswer.push(at - (answered[board]?.at ?? 0));
    }
    answered.forEach(({ status, body }, board) => {
      if (status !== 201) throw new Error(`a post got ${status}: ${body.toString()}`);
      const seq = this.#side.posted(body);
      if (seq !== (this.#heads[board] ?? 0) + 1) this.#problem ??= `a post got the number ${seq}`;
      this.#heads[board] = seq;
    });
    for (const waiting of this.#waiting) this.#receive(waiting);
  }

  #receive(waiting: Waiting): void {
    const seqs = this.#side.arrived(waiting.body as Buffer);
    const seq = this.#heads[waiting.board] ?? 0;
    if (seqs.length !== 1 || seqs[0] !== seq) this.#problem ??= `an inbox got ${seqs.join()} instead of ${seq}`;
    waiting.last = seq;
    this.#wait(waiting);
  }

  async #within(all: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const missing = (): string =>
        `${this.#followers.length - this.#frames.length} frames and ${this.#waiting.length - this.#inboxes} inboxes missing`;
      timer = setTimeout(() => reject(new Error(this.#problem ?? missing())), ROUND_LIMIT_MS);
    });
    await Promise.race([all, late]);
    clearTimeout(timer);
  }

  /** Drops what was measured so far. */
  forget(): void {
    for (const samples of [this.toFrame, this.fromAnswer, this.toInbox, this.cpu]) samples.length = 0;
  }

  /** Everything came once and in order. @throws Error */
  check(): void {
    for (const { board, stream } of this.#followers) {
      this.#problem ??= stream.problem;
      if (stream.last !== this.#heads[board]) this.#problem ??= `a stream ended at ${stream.last}`;
    }
    if (this.#problem !== null) throw new Error(`${this.#side.name}: ${this.#problem}`);
  }

  async end(): Promise<void> {
    for (const { wire } of this.#waiting) wire.close();
    for (const { stream } of this.#followers) stream.close();
    for (const wire of this.#writers) wire.close();
    await this.#side.served.end();
  }
}
