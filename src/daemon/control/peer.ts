/** A client's connection on the daemon's side. */
import type { Socket } from 'node:net';
import type { ErrorFrame, Event, HandoffId, LaterFrame } from '../protocol.ts';
import { encodeFrame, fitsFrame } from './lines.ts';

export class Peer {
  /** The first frame has arrived. */
  started = false;
  /** Handles later frames of a connection that stays open. */
  onFrame: ((frame: LaterFrame) => void) | null = null;
  readonly #socket: Socket;
  readonly #closeListeners: (() => void)[] = [];
  readonly #awaitingReceived = new Map<HandoffId, (received: boolean) => boolean>();
  #open = true;
  #pendingBye: Event | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('close', () => this.#end());
    // An error is followed by `close`, which is handled above.
    socket.on('error', () => {});
  }

  get open(): boolean {
    return this.#open && !this.#socket.writableEnded;
  }

  /** Runs a function once the connection is closed; at once if it already is. */
  onClose(run: () => void): void {
    if (this.#open) this.#closeListeners.push(run);
    else run();
  }

  /** @returns whether it was written to the socket */
  send(fields: object): boolean {
    if (!this.open) return false;
    const line = encodeFrame({ ...fields });
    if (fitsFrame(line)) {
      this.#socket.write(line);
      return true;
    }
    this.refuse({
      code: 'internal',
      message: 'The answer is too long for one frame.',
      hint: 'Ask for less at a time.',
    });
    return false;
  }

  /** Sends an event on a connection that stays open. */
  sendEvent(event: Event): boolean {
    return this.send(event);
  }

  refuse(error: ErrorFrame): void {
    this.send({ error });
  }

  /**
   * Waits until the carrier confirms that it wrote a handoff's text. `onReceived(true)` returns whether that could be
   * recorded; `onReceived(false)` means that the connection closed first.
   */
  awaitReceived(id: HandoffId, onReceived: (received: boolean) => boolean): void {
    if (this.#open) this.#awaitingReceived.set(id, onReceived);
    else onReceived(false);
  }

  /** Handles the carrier's `received`. @returns false for a handoff that is not waited for here */
  confirmReceived(id: HandoffId): boolean {
    const onReceived = this.#awaitingReceived.get(id);
    this.#awaitingReceived.delete(id);
    return onReceived?.(true) === true;
  }

  /** Sends the last event; if the carrier is writing a text, only after the answer to its `received`. */
  sendBye(event: Event): void {
    if (this.#awaitingReceived.size === 0) this.sendEvent(event);
    else this.#pendingBye = event;
  }

  /** Sends the last event if it was delayed. */
  flushBye(): void {
    if (this.#pendingBye === null || this.#awaitingReceived.size > 0) return;
    this.sendEvent(this.#pendingBye);
    this.#pendingBye = null;
  }

  /** Closes the connection after pending writes. */
  close(): void {
    if (this.#pendingBye !== null) this.sendEvent(this.#pendingBye);
    this.#pendingBye = null;
    this.#socket.end();
    this.#socket.destroySoon();
  }

  #end(): void {
    this.#open = false;
    for (const onReceived of this.#awaitingReceived.values()) onReceived(false);
    this.#awaitingReceived.clear();
    for (const run of this.#closeListeners.splice(0)) run();
  }
}
