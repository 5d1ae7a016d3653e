/** Acknowledging on the server what was received: per seat, in order, repeated alone until it is done. */
import type { Core } from '../core.ts';
import { moveCursor, noticesDone } from '../handoff/settle.ts';
import { JournalError } from '../journal/types.ts';
import type { Seat } from '../sessions/seat.ts';
import { finalProblems, type HandoffId, SeatFailure, type SeatRef, seatKey } from '../types.ts';

interface Work {
  running: boolean;
  /** Asked for again meanwhile. */
  again: boolean;
  failures: number;
  cancel: () => void;
}

const MAX_DELAY_MS = 60_000;

export class Acknowledger {
  readonly #core: Core;
  readonly #seats = new Map<string, Work>();
  readonly #notices = new Set<HandoffId>();
  #running = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Nothing is under way or due. */
  get idle(): boolean {
    return this.#running === 0 && [...this.#seats.values()].every(({ failures }) => failures === 0);
  }

  get running(): boolean {
    return this.#running > 0;
  }

  /** Something of this seat was received. */
  want(seat: Seat): void {
    const work = this.#workOf(seat.row);
    if (work.running) {
      work.again = true;
      return;
    }
    work.cancel();
    void this.#run(seat, work);
  }

  /** The seat can be reached again, or has another token. */
  retry(seat: Seat): void {
    if (seat.received.size > 0) this.want(seat);
    for (const id of this.#notices) this.notices(id);
  }

  /** Acknowledges the notices that stood in a confirmed handoff. */
  notices(id: HandoffId, failures = 0): void {
    const manifest = this.#core.journal.manifest(id);
    if (!manifest || manifest.notices.length === 0 || manifest.handoff.state !== 'confirmed') return;
    this.#notices.add(id);
    this.#running++;
    const seats = new Map(manifest.notices.map((notice) => [seatKey(notice), notice as SeatRef]));
    const each = [...seats.values()].map((seat) => {
      const ids = manifest.notices.filter((notice) => seatKey(notice) === seatKey(seat)).map((one) => one.notice_id);
      return this.#core.origins.at(seat.origin).ackNotices(seat, ids);
    });
    void Promise.all(each)
      .then(() => {
        noticesDone(this.#core, id);
        this.#notices.delete(id);
        const told = new Set(manifest.notices.map((one) => one.notice_id));
        for (const seat of seats.values()) {
          const known = this.#core.seats.of(seat);
          if (known) known.notices = known.notices.filter((notice) => !told.has(notice.id));
        }
        this.#core.log.write('notice_told', { handoff: id, notices: told.size });
      })
      .catch(() => {
        // Asked for again, which acknowledges nothing twice: a server that is away, or a journal that did not take it.
        if (this.#core.stopping) return;
        this.#core.clock.after(backoff(failures), () => void (this.#notices.has(id) && this.notices(id, failures + 1)));
      })
      .finally(() => this.#running--);
  }

  async #run(seat: Seat, work: Work): Promise<void> {
    work.running = true;
    work.again = false;
    this.#running++;
    try {
      await this.#acknowledge(seat);
      work.failures = 0;
    } catch (error) {
      this.#failed(seat, work, error);
    } finally {
      work.running = false;
      this.#running--;
      if (work.again && !this.#core.stopping) this.want(seat);
    }
  }

  async #acknowledge(seat: Seat): Promise<void> {
    const core = this.#core;
    if (seat.row.problem === 'unauthorized' || isFinal(seat)) return;
    const origin = core.origins.at(seat.row.origin);
    // After a start nothing was read yet, and what precedes a message is known only from a read.
    if (seat.received.size > 0 && !covers(seat)) core.seats.readDone(seat, await origin.read(seat.row));
    const upTo = contiguous(seat);
    if (upTo <= seat.row.cursor) return;
    core.faults.at('ack.chosen');
    const { cursor } = await origin.ack(seat.row, upTo);
    core.faults.at('ack.answered');
    moveCursor(core, seat, Math.max(cursor, upTo));
    core.faults.at('ack.recorded');
    core.metrics.count('acked');
    core.log.write('acked', { seats: [seat.row.member_id], seqs: [upTo] });
  }

  /** Repeated alone; the messages are not handed again. */
  #failed(seat: Seat, work: Work, error: unknown): void {
    const core = this.#core;
    core.metrics.count('ack_failures');
    const code =
      error instanceof SeatFailure ? error.code : error instanceof JournalError ? 'journal_unwritable' : 'internal';
    core.log.write('ack_failed', { seats: [seat.row.member_id], code }, 'warn');
    // The server does not have that number: what it has is read, never guessed.
    if (code === 'ack_out_of_range') seat.latest = null;
    if (core.stopping || seat.row.problem === 'unauthorized' || isFinal(seat)) return;
    work.cancel = core.clock.after(backoff(work.failures), () => this.want(seat));
    work.failures++;
  }

  #workOf(seat: SeatRef): Work {
    const key = seatKey(seat);
    let work = this.#seats.get(key);
    if (!work) {
      work = { running: false, again: false, failures: 0, cancel: () => {} };
      this.#seats.set(key, work);
    }
    return work;
  }
}

const isFinal = ({ row }: Seat): boolean => row.problem !== null && finalProblems.includes(row.problem);

/** Milliseconds before the next try: doubling from a second to a minute, by chance up to half less. */
const backoff = (failures: number): number => Math.min(MAX_DELAY_MS, 1000 * 2 ** failures) * (0.5 + Math.random() / 2);

/** Whether the last read tells what precedes every message that was received. */
function covers(seat: Seat): boolean {
  if (!seat.latest) return false;
  const last = seat.latest.inbox.messages.at(-1)?.seq ?? 0;
  return [...seat.received.values()].every((seq) => seq <= Math.max(last, seat.row.cursor));
}

/** The last message such that it and every unread one before it is received; the cursor where there is none. */
export function contiguous(seat: Pick<Seat, 'latest' | 'row' | 'received'>): number {
  let upTo = seat.row.cursor;
  const wholeUpTo = seat.latest?.wholeUpTo ?? Number.POSITIVE_INFINITY;
  for (const { id, seq } of seat.latest?.inbox.messages ?? []) {
    if (seq <= seat.row.cursor) continue;
    // Of what lies before an urgent message that was fetched ahead of others, nothing is known.
    if (seq > wholeUpTo || !seat.received.has(id)) return upTo;
    upTo = seq;
  }
  return upTo;
}
