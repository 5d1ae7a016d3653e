/** A program at the control socket, as raw frames. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PATIENCE_MS } from '../../support/until.ts';

export type Frame = Record<string, unknown>;

export class Line {
  readonly frames: Frame[] = [];
  closed = false;
  readonly #socket: Socket;
  #rest = '';
  #taken = 0;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('data', (piece) => {
      this.#rest += piece;
      const lines = this.#rest.split('\n');
      this.#rest = lines.pop()!;
      for (const line of lines) this.frames.push(JSON.parse(line) as Frame);
      this.#wake();
    });
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
  }

  static async open(path: string): Promise<Line> {
    const socket = connect(path);
    await once(socket, 'connect');
    return new Line(socket);
  }

  send(frame: Frame): this {
    this.#socket.write(`${JSON.stringify({ v: 1, ...frame })}\n`);
    return this;
  }

  raw(text: string | Buffer): void {
    this.#socket.write(text);
  }

  /** The next frame that comes; fails when none does. */
  async next(ms = PATIENCE_MS): Promise<Frame> {
    const end = Date.now() + ms;
    while (this.frames.length <= this.#taken) {
      if (this.closed) throw new Error(`the connection closed; there were ${JSON.stringify(this.frames)}`);
      const left = end - Date.now();
      if (left <= 0) throw new Error(`no frame in ${ms} ms; there were ${JSON.stringify(this.frames)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.frames[this.#taken++]!;
  }

  /** Whether frames came that nobody took. */
  get more(): boolean {
    return this.frames.length > this.#taken;
  }

  async end(): Promise<void> {
    if (this.closed) return;
    const closed = once(this.#socket, 'close');
    this.#socket.destroy();
    await closed;
  }
}

/** One frame, one answer. */
export async function asked(path: string, frame: Frame): Promise<Frame> {
  const line = await Line.open(path);
  try {
    return await line.send(frame).next(10_000);
  } finally {
    await line.end();
  }
}
