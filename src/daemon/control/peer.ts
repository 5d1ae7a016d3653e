/** One connection on the daemon's side. */
import type { Socket } from 'node:net';
import type { ErrorFrame, Event, HandoffId, LaterFrame } from '../protocol.ts';
import { encodeFrame, fits } from './lines.ts';

export class Peer {
  /** The first frame has come. */
  begun = false;
  /** Takes what follows on a connection that stays open. */
  follow: ((frame: LaterFrame) => void) | null = null;
  readonly #socket: Socket;
  readonly #closed: (() => void)[] = [];
  readonly #awaited = new Map<HandoffId, (received: boolean) => boolean>();
  #open = true;
  #farewell: Event | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('close', () => this.#end());
    // A broken connection closes, which is all that has to be known.
    socket.on('error', () => {});
  }

  get open(): boolean {
    return this.#open && !this.#socket.writableEnded;
  }

  /** Runs once, when the other side is gone or was dropped. */
  onClose(run: () => void): void {
    if (this.#open) this.#closed.push(run);
    else run();
  }

  /** @returns whether it was handed to the system. */
  send(fields: object): boolean {
    if (!this.open) return false;
    const line = encodeFrame({ ...fields });
    if (fits(line)) return this.#write(line);
    this.refuse({
      code: 'internal',
      message: 'The answer is too long for one frame.',
      hint: 'Ask for less at a time.',
    });
    return false;
  }

  /** Sends an event on a connection that stays open. */
  tell(event: Event): boolean {
    return this.send(event);
  }

  refuse(error: ErrorFrame): void {
    this.send({ error });
  }

  /**
   * Waits until the carrier confirms that it wrote a handoff's text. `told(true)` returns whether that could be noted;
   * `told(false)` means that the connection closed first.
   */
  expect(id: HandoffId, told: (received: boolean) => boolean): void {
    if (this.#open) this.#awaited.set(id, told);
    else told(false);
  }

  /** Handles the carrier's `received`. @returns false for a handoff that is not waited for here */
  took(id: HandoffId): boolean {
    const told = this.#awaited.get(id);
    this.#awaited.delete(id);
    return told?.(true) === true;
  }

  /** Sends the last event; to a carrier that is writing a text only after the answer to its `received`. */
  goodbye(event: Event): void {
    if (this.#awaited.size === 0) this.tell(event);
    else this.#farewell = event;
  }

  /** Sends the last event if it waited for a text to be written. */
  settled(): void {
    if (this.#farewell === null || this.#awaited.size > 0) return;
    this.tell(this.#farewell);
    this.#farewell = null;
  }

  /** Closes after what was sent. */
  close(): void {
    if (this.#farewell !== null) this.tell(this.#farewell);
    this.#farewell = null;
    this.#socket.end();
    this.#socket.destroySoon();
  }

  #write(line: string): boolean {
    this.#socket.write(line);
    return true;
  }

  #end(): void {
    this.#open = false;
    for (const told of this.#awaited.values()) told(false);
    this.#awaited.clear();
    for (const run of this.#closed.splice(0)) run();
  }
}
