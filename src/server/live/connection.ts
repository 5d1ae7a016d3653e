/** One open stream's socket: bounded writing, a keepalive, and an end that is always the last frame. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../db/clock.ts';
import { type EndReason, frame, KEEPALIVE, OPENING } from './frames.ts';

/** Above this many unflushed bytes nothing more is written. */
const MAX_UNFLUSHED = 262_144;
/** A reader that has not drained for this long is cut off; it resumes by itself. Milliseconds. */
const STALLED_MS = 30_000;
const KEEPALIVE_MS = 25_000;
/** How long a reader may take for the last frame. */
const LAST_FRAME_MS = 900;

export class Connection {
  readonly #res: ServerResponse;
  readonly #clock: Clock;
  readonly #onTick: () => void;
  #cancelKeepalive: () => void = () => {};
  #cancelStall: (() => void) | null = null;
  #open = true;

  /** @param onTick called at every keepalive, as a safety net for what a wake-up may have missed. */
  constructor(res: ServerResponse, clock: Clock, onTick: () => void) {
    this.#res = res;
    this.#clock = clock;
    this.#onTick = onTick;
    // The client may have gone away before this point; then 'close' has been and will not come again.
    if (res.closed || res.destroyed) {
      this.#open = false;
      return;
    }
    res.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    });
    res.write(OPENING);
    this.#keepalive();
  }

  get open(): boolean {
    return this.#open;
  }

  get congested(): boolean {
    return this.#res.writableLength > MAX_UNFLUSHED;
  }

  /** Called once each time the socket has drained after `congested`. */
  onDrain(fn: () => void): void {
    this.#res.on('drain', () => {
      this.#cancelStall?.();
      this.#cancelStall = null;
      if (this.#open) fn();
    });
  }

  /** Called once when the connection has closed; in the next turn when it already had. */
  onClose(fn: () => void): void {
    if (this.#res.closed || this.#res.destroyed) {
      setImmediate(fn);
      return;
    }
    this.#res.once('close', () => {
      this.#stop();
      fn();
    });
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
      this.#onTick();
      if (this.#open) this.#keepalive();
    });
  }

  #stop(): void {
    this.#open = false;
    this.#cancelKeepalive();
    this.#cancelStall?.();
  }
}
