/** A server in this process that the daemon reads inboxes of: it can be away, and lose the answer to what it did. */
import type { Message } from '../../../src/contract/types.ts';
import type { DaemonClock } from '../../../src/daemon/clock.ts';
import type { SeatIdentity, SeatRef } from '../../../src/daemon/refs.ts';
import { type InboxRead, SeatFailure, type ServerEvents } from '../../../src/daemon/server-link/link.ts';
import type { Servers } from '../../../src/daemon/server-link/servers.ts';
import { anInbox } from '../../support/messages.ts';

interface Box {
  seat: SeatIdentity;
  messages: Message[];
  cursor: number;
}

export class FakeServers {
  away = false;
  /** How many acknowledgements are done, and their answers lost. */
  lostAnswers = 0;
  readonly boxes = new Map<string, Box>();
  readonly #clock: DaemonClock;
  readonly #watched = new Set<string>();
  #events: ServerEvents | null = null;

  constructor(clock: DaemonClock) {
    this.#clock = clock;
  }

  /** The port of a daemon that starts now. */
  port(events: ServerEvents): Servers {
    this.#events = events;
    this.#watched.clear();
    const connection = {
      watch: (seat: SeatRef) => this.#watch(seat),
      unwatch: ({ member_id: id }: SeatRef) => void this.#watched.delete(id),
      read: (seat: SeatRef) => this.#read(seat),
      backsOff: () => false,
      ack: (seat: SeatRef, upTo: number) => this.#ack(seat, upTo),
    };
    return { at: () => connection, views: () => [], close: async () => {} } as unknown as Servers;
  }

  post(seat: SeatRef, message: Message): void {
    this.boxes.get(seat.member_id)!.messages.push(message);
    if (this.#watched.has(seat.member_id)) void this.#read(seat).catch(() => {});
  }

  leave(): void {
    this.away = true;
    for (const id of this.#watched) this.#events?.emit('problem', this.boxes.get(id)!.seat, 'server_unreachable');
  }

  comeBack(): void {
    this.away = false;
    for (const id of this.#watched) {
      const { seat } = this.boxes.get(id)!;
      this.#events?.emit('problem', seat, null);
      void this.#read(seat).catch(() => {});
    }
  }

  #watch(seat: SeatRef): void {
    if (this.#watched.has(seat.member_id)) return;
    this.#watched.add(seat.member_id);
    void this.#read(seat).catch(() => {});
  }

  async #read(seat: SeatRef): Promise<InboxRead> {
    const events = this.#events;
    const sentUs = this.#clock.nowUs();
    await this.#travel();
    const { messages, cursor, seat: known } = this.boxes.get(seat.member_id)!;
    const { board, board_id, name: agent, member_id } = known;
    const unread = messages.filter(({ seq }) => seq > cursor);
    const inbox = anInbox(unread, { board, board_id, agent, member_id, cursor });
    const read = { inbox, completeUpTo: null, sentUs, atUs: this.#clock.nowUs() };
    events?.emit('inbox', seat, read);
    return read;
  }

  async #ack(seat: SeatRef, upTo: number): Promise<{ cursor: number; member_id: string }> {
    await this.#travel();
    const box = this.boxes.get(seat.member_id)!;
    box.cursor = Math.max(box.cursor, upTo);
    if (this.lostAnswers > 0) {
      this.lostAnswers--;
      throw unreachable();
    }
    return { cursor: box.cursor, member_id: seat.member_id };
  }

  async #travel(): Promise<void> {
    if (this.away) throw unreachable();
    await new Promise(setImmediate);
  }
}

const unreachable = () => new SeatFailure('server_unreachable', 'It does not answer.', undefined, true);
