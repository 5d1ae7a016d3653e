/** Acknowledges received messages on their servers: per seat, in order, with retries. */
import { closeNotices, noticesOf } from '../handoff/parts.ts';
import { JournalError } from '../journal/journal.ts';
import type { PartRow } from '../journal/rows.ts';
import type { HandoffId } from '../protocol.ts';
import { isFinal, type SeatRef, seatKey } from '../refs.ts';
import { backoff } from '../server-link/backoff.ts';
import { SeatFailure } from '../server-link/link.ts';
import type { Seat } from '../sessions/session.ts';
import { advanceCursor, type CursorDeps, follow } from './cursor.ts';

interface Work {
  running: boolean;
  /** More was received during the run. */
  rerun: boolean;
  failures: number;
  cancel: () => void;
}

interface AcknowledgerDeps extends CursorDeps {
  /** Aborted when the daemon stops, so that no new work is started. */
  stopping: AbortSignal;
}

export class Acknowledger {
  readonly #deps: AcknowledgerDeps;
  readonly #seats = new Map<string, Work>();
  /** Confirmed handoffs with notices to acknowledge, and what cancels the next attempt. */
  readonly #notices = new Map<HandoffId, () => void>();
  #running = 0;

  constructor(deps: AcknowledgerDeps) {
    this.#deps = deps;
  }

  get running(): boolean {
    return this.#running > 0;
  }

  /** Acknowledges what this seat received. */
  schedule(seat: Seat): void {
    const work = this.#workOf(seat.row);
    if (work.running) {
      work.rerun = true;
      return;
    }
    work.cancel();
    void this.#run(seat, work);
  }

  /** Retries at once, because the seat can be reached again or has a new token. */
  retry(seat: Seat): void {
    if (seat.received.size > 0) this.schedule(seat);
    for (const id of this.#notices.keys()) this.acknowledgeNotices(id);
  }

  /** Acknowledges the notices of a confirmed handoff, for each seat on its own. */
  acknowledgeNotices(id: HandoffId, failures = 0): void {
    const manifest = this.#deps.journal.manifest(id);
    // Those of a seat that moved or ended meanwhile were not received by it.
    const told = (manifest?.parts ?? []).flatMap((part) => {
      const ids = noticesOf(manifest!, part);
      return part.state === 'confirmed' && ids.length > 0 ? [{ part, ids }] : [];
    });
    if (manifest?.handoff.state !== 'confirmed' || told.length === 0) {
      this.#notices.delete(id);
      return;
    }
    this.#planNotices(id, () => {});
    this.#running++;
    void Promise.all(told.map(({ part, ids }) => this.#acknowledgeNoticesOf(part, ids).catch(() => 'failed')))
      .then((outcomes) => {
        if (!outcomes.includes('failed')) this.#notices.delete(id);
        // The server or the journal is unavailable. A repeated acknowledgement is harmless.
        else if (!this.#deps.stopping.aborted)
          this.#planNotices(
            id,
            this.#deps.clock.after(backoff(failures + 1, Math.random()), () =>
              this.acknowledgeNotices(id, failures + 1),
            ),
          );
      })
      .finally(() => this.#running--);
  }

  async #acknowledgeNoticesOf(part: PartRow, ids: string[]): Promise<void> {
    const { servers, seats, log } = this.#deps;
    await servers.at(part.origin).ackNotices(part, ids);
    closeNotices(this.#deps, part, ids);
    log.write('notice_told', { handoff: part.handoff_id, seats: [part.member_id], notices: ids.length });
    const seat = seats.of(part);
    if (!seat) return;
    seat.notices = seat.notices.filter((notice) => !ids.includes(notice.id));
    follow(this.#deps, seat);
  }

  #planNotices(id: HandoffId, cancel: () => void): void {
    this.#notices.get(id)?.();
    this.#notices.set(id, cancel);
  }

  async #run(seat: Seat, work: Work): Promise<void> {
    work.running = true;
    work.rerun = false;
    this.#running++;
    try {
      await this.#acknowledge(seat, work);
      work.failures = 0;
    } catch (error) {
      this.#failed(seat, work, error);
    } finally {
      work.running = false;
      this.#running--;
      if (work.rerun && !this.#deps.stopping.aborted) this.schedule(seat);
    }
  }

  async #acknowledge(seat: Seat, work: Work): Promise<void> {
    const { servers, faults, metrics, log } = this.#deps;
    if (seat.row.problem === 'unauthorized' || isFinal(seat.row.problem)) return;
    const server = servers.at(seat.row.origin);
    // Unread messages before the received ones are only known from a read; after a start there was none yet. After a failure
    // the server may have been restored from a backup, and have given the numbers to other messages.
    if (seat.received.size > 0 && (!seat.latest || work.failures > 0)) {
      await server.read(seat.row);
      // That asked for another run, which this one is.
      work.rerun = false;
    }
    const upTo = contiguousUpTo(seat);
    if (upTo <= seat.row.cursor) return;
    faults.at('ack.chosen');
    const { cursor } = await server.ack(seat.row, upTo);
    faults.at('ack.answered');
    advanceCursor(this.#deps, seat, Math.max(cursor, upTo));
    faults.at('ack.recorded');
    metrics.count('acked');
    log.write('acked', { seats: [seat.row.member_id], seqs: [upTo] });
  }

  /** Schedules another acknowledgement; the messages are not delivered again. */
  #failed(seat: Seat, work: Work, error: unknown): void {
    const { clock, metrics, log, stopping } = this.#deps;
    metrics.count('ack_failures');
    const code =
      error instanceof SeatFailure ? error.code : error instanceof JournalError ? 'journal_unwritable' : 'internal';
    log.write('ack_failed', { seats: [seat.row.member_id], code }, 'warn');
    // The server does not know that number, so the inbox is read again.
    if (code === 'ack_out_of_range') seat.latest = null;
    if (stopping.aborted || seat.row.problem === 'unauthorized' || isFinal(seat.row.problem)) return;
    work.cancel = clock.after(backoff(work.failures + 1, Math.random()), () => this.schedule(seat));
    work.failures++;
  }

  #workOf(seat: SeatRef): Work {
    const key = seatKey(seat);
    let work = this.#seats.get(key);
    if (!work) {
      work = { running: false, rerun: false, failures: 0, cancel: () => {} };
      this.#seats.set(key, work);
    }
    return work;
  }
}

/** The number up to which all unread messages are received; the cursor if the first one is not. */
export function contiguousUpTo(seat: Pick<Seat, 'latest' | 'row' | 'received'>): number {
  let upTo = seat.row.cursor;
  const completeUpTo = seat.latest?.completeUpTo ?? Number.POSITIVE_INFINITY;
  for (const { id, seq } of seat.latest?.inbox.messages ?? []) {
    if (seq <= seat.row.cursor) continue;
    // Messages before an urgent one that was read ahead are unknown.
    if (seq > completeUpTo || !seat.received.has(id)) return upTo;
    upTo = seq;
  }
  return upTo;
}
