/** A follower of a live stream over a bare socket: as cheap as it can be, so that the load stays smaller than the server. */
import { connect, type Socket } from 'node:net';

const NEW_LINE = '\r\n';

/** Reads server-sent events, in a chunked answer, and tells the number and the time of each. */
export class Follower {
  readonly #socket: Socket;
  readonly #onEvent: (id: number, at: number) => void;
  /** Bytes not yet decoded, one character each. */
  #raw = '';
  /** Decoded text that is not yet a whole frame. */
  #text = '';
  #inBody = false;
  #ready: () => void = () => {};
  #last: number | null = null;
  /** What was wrong with the order of its events, if anything. */
  problem: string | null = null;

  private constructor(socket: Socket, onEvent: (id: number, at: number) => void) {
    this.#socket = socket;
    this.#onEvent = onEvent;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk.toString('latin1'), performance.now()));
    socket.on('error', (error) => {
      this.problem ??= error.message;
    });
  }

  /** Opens a stream; resolves when its backlog is read. @param request the whole request. */
  static open(url: string, request: Buffer, onEvent: (id: number, at: number) => void): Promise<Follower> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the stream was closed')));
      const follower = new Follower(socket, onEvent);
      follower.#ready = () => resolve(follower);
      socket.once('connect', () => socket.write(request));
    });
  }

  /** The number of its last event, or where it started. */
  get last(): number | null {
    return this.#last;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string, at: number): void {
    this.#raw += text;
    if (!this.#inBody) {
      const end = this.#raw.indexOf('\r\n\r\n');
      if (end === -1) return;
      if (!this.#raw.startsWith('HTTP/1.1 200')) this.problem ??= this.#raw.slice(0, 300);
      this.#raw = this.#raw.slice(end + 4);
      this.#inBody = true;
    }
    this.#unchunk();
    for (let end = this.#text.indexOf('\n\n'); end !== -1; end = this.#text.indexOf('\n\n')) {
      this.#frame(this.#text.slice(0, end), at);
      this.#text = this.#text.slice(end + 2);
    }
  }

  #unchunk(): void {
    for (;;) {
      const line = this.#raw.indexOf(NEW_LINE);
      if (line === -1) return;
      const length = Number.parseInt(this.#raw.slice(0, line), 16);
      const from = line + NEW_LINE.length;
      if (this.#raw.length < from + length + NEW_LINE.length) return;
      this.#text += this.#raw.slice(from, from + length);
      this.#raw = this.#raw.slice(from + length + NEW_LINE.length);
    }
  }

  #frame(frame: string, at: number): void {
    const id = Number(/^id: (\d+)$/m.exec(frame)?.[1] ?? Number.NaN);
    if (frame.startsWith('event: ready')) {
      this.#last = id;
      this.#ready();
    } else if (frame.startsWith('event: event')) {
      if (this.#last !== null && id !== this.#last + 1) this.problem ??= `${id} came after ${this.#last}`;
      this.#last = id;
      this.#onEvent(id, at);
    } else if (frame.startsWith('event: end')) {
      this.problem ??= frame;
    }
  }
}
