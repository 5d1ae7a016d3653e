/** One open stream's socket: bounded writing, a keepalive, and an end that is always the last frame. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../db/clock.ts';
import type { Opened } from '../operation/usecase.ts';
import { type EndReason, frame, KEEPALIVE, OPENING } from './frames.ts';

/** Above this many unflushed bytes nothing more is written. */
const MAX_UNFLUSHED = 262_144;
/** A reader that has not drained for this long is cut off; it resumes by itself. Milliseconds. */
const STALLED_MS = 30_000;
const KEEPALIVE_MS = 25_000;
/** How long a reader may take for the last frame. */
const LAST_FRAME_MS = 900;
const HEADERS = ['Content-Type', 'text/event-stream; charset=utf-8', 'X-Accel-Buffering', 'no'];

/** Whose frames go over a connection. */
interface Stream {
  /** At every keepalive, as a safety net for what a wake-up may have missed. */
  tick(): unknown;
  /** Each time the socket has drained. */
  drained(): unknown;
  /** Once, when the connection has closed; in the next turn when it had before there was a stream. */
  closed(): void;
}

export class Connection {
  readonly #res: ServerResponse;
  readonly #clock: Clock;
  #stream: Stream | null = null;
  #onClose: (() => void) | null = null;
  #cancelKeepalive: (() => void) | null = null;
  #cancelStall: (() => void) | null = null;
  #open = true;

  constructor({ res, standing }: Opened, clock: Clock) {
    this.#res = res;
    this.#clock = clock;
    // The client may have gone away before this point; then 'close' has been and will not come again.
    if (res.closed || res.destroyed) {
      this.#open = false;
      setImmediate(() => this.#closed());
      return;
    }
    res.on('close', () => this.#closed());
    res.on('drain', () => this.#drained());
    // In one piece, and the head by itself: the platform keeps its text as many small ones until it is sent so.
    res.cork();
    res.writeHead(200, [...standing.with(standing.indexOf('Cache-Control') + 1, 'no-store, no-transform'), ...HEADERS]);
    res.flushHeaders();
    res.write(OPENING);
    res.uncork();
    this.#keepalive();
  }

  get open(): boolean {
    return this.#open;
  }

  get congested(): boolean {
    return this.#res.writableLength > MAX_UNFLUSHED;
  }

  /** From now on tells the stream of what happens. */
  serve(stream: Stream): void {
    this.#stream = stream;
  }

  /** @param fn called once, after the stream was told. */
  onClose(fn: () => void): void {
    this.#onClose = fn;
  }

  write(text: string | Buffer): void {
    if (!this.#open) return;
    const drained = this.#res.write(text);
    if (!drained && this.congested && !this.#cancelStall) {
      this.#cancelStall = this.#clock.after(STALLED_MS, () => this.#res.destroy());
    }
  }

  end(reason: EndReason): void {
    if (!this.#open) return;
    this.#stop();
    this.#res.end(frame('end', { reason }));
    // A reader that does not even take the last frame must not keep the socket.
    const cancel = this.#clock.after(LAST_FRAME_MS, () => this.#res.destroy());
    this.#res.once('close', cancel);
  }

  #keepalive(): void {
    this.#cancelKeepalive = this.#clock.after(KEEPALIVE_MS, () => {
      if (!this.congested) this.write(KEEPALIVE);
      this.#stream?.tick();
      if (this.#open) this.#keepalive();
    });
  }

  #closed(): void {
    this.#stop();
    this.#stream?.closed();
    this.#onClose?.();
  }

  #drained(): void {
    this.#cancelStall?.();
    this.#cancelStall = null;
    if (this.#open) this.#stream?.drained();
  }

  #stop(): void {
    this.#open = false;
    this.#cancelKeepalive?.();
    this.#cancelStall?.();
  }
}
