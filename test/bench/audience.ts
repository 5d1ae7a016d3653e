/** Everybody who follows the boards of one side: streams and waiting inboxes, and what each of them got. */
import type { Side } from './crowd.ts';
import { Follower } from './sse.ts';
import { type Answer, Wire } from './wire.ts';

export interface Shape {
  boards: number;
  streamsPerBoard: number;
  waitsPerBoard: number;
}

/** Within this time everything that was posted has to be there. */
const LIMIT_MS = 10_000;

interface Waiting {
  board: number;
  seat: number;
  wire: Wire;
  last: number;
  body: Buffer | null;
}

export class Audience {
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
  /** Whether posts go on without end, instead of one round after the other. */
  #following = false;
  #caughtUp: () => void = () => {};
  #problem: string | null = null;

  private constructor(side: Side, shape: Shape) {
    this.#side = side;
    this.#shape = shape;
  }

  static async gather(side: Side, shape: Shape): Promise<Audience> {
    const audience = new Audience(side, shape);
    for (let board = 0; board < shape.boards; board++) await audience.#seat(board);
    // Last: a server closes connections that send nothing for some seconds.
    for (let board = 0; board < shape.boards; board++) audience.#writers.push(await Wire.open(side.served.url));
    for (const waiting of audience.#waiting) audience.#wait(waiting);
    return audience;
  }

  async #seat(board: number): Promise<void> {
    const { url } = this.#side.served;
    const { streamsPerBoard, waitsPerBoard } = this.#shape;
    const head = this.#side.head(board);
    this.#heads.push(head);
    for (let n = 0; n < streamsPerBoard; n++) {
      const onEvent = (_id: number, at: number): void => {
        if (!this.#following) this.#frames.push({ board, at });
        if (this.#following) this.#compare();
        else this.#count();
      };
      const stream = await Follower.open(url, this.#side.stream(board, n), onEvent);
      this.#followers.push({ board, stream });
    }
    for (let seat = 0; seat < waitsPerBoard; seat++) {
      this.#waiting.push({ board, seat, wire: await Wire.open(url), last: head, body: null });
    }
  }

  #wait(waiting: Waiting): void {
    waiting.body = null;
    waiting.wire.send(this.#side.wait(waiting.board, waiting.seat, waiting.last)).then(
      (answer) => {
        const { status, body, at } = answer;
        if (status !== 200) this.#problem ??= `a wait got ${status}: ${body.toString()}`;
        // A wait that saw nothing for a minute is begun again.
        else if (this.#following || this.#side.arrived(body).length === 0) return this.#next(waiting, answer);
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

  /**
   * Writers that post at once on all boards, each as fast as it is answered or, with `restMs`, after a rest, while
   * everybody follows and waits again at once; ends when everybody has everything. Answers how many posts there were.
   */
  async burst(writers: number, goesOn: (posts: number) => boolean, restMs = 0): Promise<number> {
    const { served } = this.#side;
    this.#following = true;
    let posts = 0;
    const write = async (wire: Wire): Promise<void> => {
      while (this.#problem === null && goesOn(posts)) {
        const board = posts++ % this.#shape.boards;
        const { status, body } = await wire.send(this.#side.post(board));
        if (status !== 201) throw new Error(`a post got ${status}: ${body.toString()}`);
        this.#heads[board] = Math.max(this.#heads[board] ?? 0, this.#side.posted(body));
        if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      }
      wire.close();
    };
    const wires = await Promise.all(Array.from({ length: writers }, () => Wire.open(served.url)));
    await Promise.all(wires.map(write));
    const all = new Promise<void>((resolve) => {
      this.#caughtUp = resolve;
    });
    this.#compare();
    await this.#within(all);
    this.#following = false;
    return posts;
  }

  /** Whether everybody is where the boards are. */
  #compare(): void {
    const there = (board: number, at: number | null): boolean => at === this.#heads[board];
    if (
      this.#followers.every(({ board, stream }) => there(board, stream.last)) &&
      this.#waiting.every(({ board, last }) => there(board, last))
    )
      this.#caughtUp();
  }

  /** Takes what a wait brought while posts go on, and waits again at once. */
  #next(waiting: Waiting, { body }: Answer): void {
    for (const seq of this.#side.arrived(body)) {
      if (seq !== waiting.last + 1) this.#problem ??= `an inbox got ${seq} after ${waiting.last}`;
      waiting.last = seq;
    }
    this.#compare();
    this.#wait(waiting);
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
      timer = setTimeout(() => reject(new Error(this.#problem ?? missing())), LIMIT_MS);
    });
    await Promise.race([all, late]);
    clearTimeout(timer);
  }

  /** Bytes that the server takes now. */
  async rss(): Promise<number> {
    return (await this.#side.served.child.usage()).rss;
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
