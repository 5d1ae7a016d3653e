/**
 * Reports to a server what waits in the queue of an agent's own program, so that senders see it. A reporter claims the seat's
 * fence once and numbers what it says; one that was overtaken stays silent until another session or life has the seat.
 */
import type { DaemonClock } from '../clock.ts';
import type { Journal } from '../journal/journal.ts';
import type { QueueFence } from '../journal/rows.ts';
import type { SeatRef } from '../refs.ts';
import type { Connection } from '../server-link/connection.ts';
import { type QueueLabel, SeatFailure } from '../server-link/link.ts';
import { Latest } from './latest.ts';

/** What is acknowledged within this time was never worth a report. */
const HOLD_MS = 500;
const GAP_MS = 1_000;
/** A report lives 45 seconds. */
const RENEW_MS = 20_000;
const MOST_MESSAGES = 1_000;

export interface QueuedMessage {
  message_id: string;
  seq: number;
}

interface Report extends QueueLabel {
  /** In the order of their numbers. */
  messages: QueuedMessage[];
}

export interface QueueReportOptions {
  seat: SeatRef;
  at(): Pick<Connection, 'queueEpoch' | 'claimQueue' | 'reportQueue'>;
  journal: Pick<Journal, 'queueFence' | 'saveQueueFence'>;
  clock: DaemonClock;
  failed(error: unknown): void;
}

/** The report of one seat. */
export class QueueReport {
  readonly #options: QueueReportOptions;
  readonly #latest: Latest<Report>;
  /** Another reporter has taken over since, or the server does not know this report. */
  #silent: QueueLabel | null = null;
  /** A claim whose answer was lost: it may have been taken. */
  #asked: (QueueLabel & { epoch: number }) | null = null;
  /** The server was told of something. */
  #told = false;

  constructor(options: QueueReportOptions) {
    this.#options = options;
    this.#latest = new Latest<Report>({
      clock: options.clock,
      gapMs: GAP_MS,
      renewMs: (report) => (report.messages.length === 0 || this.#isSilent(report) ? 0 : RENEW_MS),
      same: sameReport,
      write: (report) => (report.messages.length === 0 ? this.#clear() : this.#say(report)),
      failed: (error) => options.failed(error),
    });
  }

  set({ session, boot }: QueueLabel, messages: readonly QueuedMessage[]): void {
    const first = messages
      .map(({ message_id, seq }) => ({ message_id, seq }))
      .sort((a, b) => a.seq - b.seq)
      .slice(0, MOST_MESSAGES);
    this.#latest.set({ session, boot, messages: first }, HOLD_MS);
  }

  /** The seat is no session's any more. */
  clear(): void {
    this.set({ session: '', boot: '' }, []);
  }

  stop(): void {
    this.#latest.stop();
  }

  async #say(report: Report): Promise<void> {
    if (this.#isSilent(report)) return;
    const { seat, journal } = this.#options;
    const known = journal.queueFence(seat);
    try {
      await this.#update(known && sameReporter(labelOf(known), report) ? known : await this.#claim(report), report);
    } catch (error) {
      const code = error instanceof SeatFailure ? error.code : '';
      // It does not claim again by itself, because another reporter goes on.
      if (code === 'queue_report_conflict' || code === 'server_outdated')
        this.#silent = { session: report.session, boot: report.boot };
      throw error;
    }
  }

  /** Nothing waits any more; what was never told needs no word. */
  async #clear(): Promise<void> {
    const fence = this.#options.journal.queueFence(this.#options.seat);
    if (!this.#told || !fence || this.#isSilent(labelOf(fence))) return;
    this.#told = false;
    await this.#update(fence, { ...labelOf(fence), messages: [] });
  }

  async #claim({ session, boot }: Report): Promise<QueueFence> {
    const { seat, journal } = this.#options;
    const at = this.#options.at();
    const { epoch } = await at.queueEpoch(seat);
    const asked = this.#asked;
    this.#asked = { session, boot, epoch };
    const taken = asked && sameReporter(asked, { session, boot }) && epoch === asked.epoch + 1;
    const claimed = taken ? { epoch } : await at.claimQueue(seat, { session, boot, expected_epoch: epoch });
    const { origin, member_id } = seat;
    const fence = { origin, member_id, session_key: session, boot, epoch: claimed.epoch, revision: 0 };
    journal.saveQueueFence(fence);
    this.#asked = null;
    return fence;
  }

  /** The number is written down first, so that none is ever used twice. */
  async #update(fence: QueueFence, { session, boot, messages }: Report): Promise<void> {
    const { seat, journal } = this.#options;
    const revision = fence.revision + 1;
    journal.saveQueueFence({ ...fence, revision });
    if (messages.length > 0) this.#told = true;
    await this.#options.at().reportQueue(seat, { session, boot, epoch: fence.epoch, revision, messages });
  }

  #isSilent(reporter: QueueLabel): boolean {
    return this.#silent !== null && sameReporter(this.#silent, reporter);
  }
}

const labelOf = ({ session_key: session, boot }: QueueFence): QueueLabel => ({ session, boot });

const sameReporter = (a: QueueLabel, b: QueueLabel): boolean => a.session === b.session && a.boot === b.boot;

/** Where nothing waits it does not matter who says so. */
function sameReport(a: Report, b: Report): boolean {
  if (a.messages.length !== b.messages.length) return false;
  if (a.messages.length > 0 && !sameReporter(a, b)) return false;
  return a.messages.every(({ message_id }, n) => b.messages[n]?.message_id === message_id);
}
