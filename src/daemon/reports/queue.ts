/**
 * Reports to a server what waits in the queue of an agent's own program, so that senders see it. A reporter claims the
 * seat's fence once and numbers its reports; a superseded reporter stops until another session or boot has the seat.
 */
import type { DaemonClock } from '../clock.ts';
import type { Journal } from '../journal/journal.ts';
import type { PartMessage, QueueFence } from '../journal/rows.ts';
import type { SeatRef } from '../refs.ts';
import type { Connection } from '../server-link/connection.ts';
import { type QueueLabel, SeatFailure } from '../server-link/link.ts';
import { LatestWriter } from './latest.ts';

/** Messages that are acknowledged within this time are not reported. */
const DELAY_MS = 500;
const MIN_INTERVAL_MS = 1_000;
/** Reports expire after 45 seconds. */
const RENEW_MS = 20_000;
const MAX_MESSAGES = 1_000;

export type QueuedMessage = Pick<PartMessage, 'message_id' | 'seq'>;

interface Report extends QueueLabel {
  /** Sorted by number. */
  messages: QueuedMessage[];
}

export interface QueueReportOptions {
  seat: SeatRef;
  at(): Pick<Connection, 'queueEpoch' | 'claimQueue' | 'reportQueue'>;
  journal: Pick<Journal, 'queueFence' | 'saveQueueFence'>;
  clock: DaemonClock;
  onError(error: unknown): void;
}

/** The report of one seat. */
export class QueueReport {
  readonly #options: QueueReportOptions;
  readonly #latest: LatestWriter<Report>;
  /** The reporter that another one superseded, or whose server does not support reports. */
  #superseded: QueueLabel | null = null;
  /** A claim without an answer, which may have succeeded. */
  #lostClaim: (QueueLabel & { epoch: number }) | null = null;
  /** The last report was not empty. */
  #reported = false;

  constructor(options: QueueReportOptions) {
    this.#options = options;
    this.#latest = new LatestWriter<Report>({
      clock: options.clock,
      gapMs: MIN_INTERVAL_MS,
      renewMs: (report) => (report.messages.length === 0 || this.#isSuperseded(report) ? 0 : RENEW_MS),
      same: sameReport,
      write: (report) => (report.messages.length === 0 ? this.#clear() : this.#write(report)),
      onError: (error) => options.onError(error),
    });
  }

  set({ session, boot }: QueueLabel, messages: readonly QueuedMessage[]): void {
    const first = messages
      .map(({ message_id, seq }) => ({ message_id, seq }))
      .sort((a, b) => a.seq - b.seq)
      .slice(0, MAX_MESSAGES);
    this.#latest.set({ session, boot, messages: first }, DELAY_MS);
  }

  /** Clears the report, because no session holds the seat any more. */
  clear(): void {
    this.set({ session: '', boot: '' }, []);
  }

  stop(): void {
    this.#latest.stop();
  }

  async #write(report: Report): Promise<void> {
    if (this.#isSuperseded(report)) return;
    const { seat, journal } = this.#options;
    const known = journal.queueFence(seat);
    try {
      await this.#update(known && sameReporter(labelOf(known), report) ? known : await this.#claim(report), report);
    } catch (error) {
      const code = error instanceof SeatFailure ? error.code : '';
      // Another reporter is active, so this one does not claim again.
      if (code === 'queue_report_conflict' || code === 'server_outdated')
        this.#superseded = { session: report.session, boot: report.boot };
      throw error;
    }
  }

  /** Reports an empty queue, if anything was reported before. */
  async #clear(): Promise<void> {
    const fence = this.#options.journal.queueFence(this.#options.seat);
    if (!this.#reported || !fence || this.#isSuperseded(labelOf(fence))) return;
    this.#reported = false;
    await this.#update(fence, { ...labelOf(fence), messages: [] });
  }

  async #claim({ session, boot }: Report): Promise<QueueFence> {
    const { seat, journal } = this.#options;
    const at = this.#options.at();
    const { epoch } = await at.queueEpoch(seat);
    const asked = this.#lostClaim;
    this.#lostClaim = { session, boot, epoch };
    const taken = asked && sameReporter(asked, { session, boot }) && epoch === asked.epoch + 1;
    const claimed = taken ? { epoch } : await at.claimQueue(seat, { session, boot, expected_epoch: epoch });
    const { origin, member_id } = seat;
    const fence = { origin, member_id, session_key: session, boot, epoch: claimed.epoch, revision: 0 };
    journal.saveQueueFence(fence);
    this.#lostClaim = null;
    return fence;
  }

  /** Saves the revision before it is sent, so that none is used twice. */
  async #update(fence: QueueFence, { session, boot, messages }: Report): Promise<void> {
    const { seat, journal } = this.#options;
    const revision = fence.revision + 1;
    journal.saveQueueFence({ ...fence, revision });
    if (messages.length > 0) this.#reported = true;
    await this.#options.at().reportQueue(seat, { session, boot, epoch: fence.epoch, revision, messages });
  }

  #isSuperseded(reporter: QueueLabel): boolean {
    return this.#superseded !== null && sameReporter(this.#superseded, reporter);
  }
}

const labelOf = ({ session_key: session, boot }: QueueFence): QueueLabel => ({ session, boot });

const sameReporter = (a: QueueLabel, b: QueueLabel): boolean => a.session === b.session && a.boot === b.boot;

/** Empty reports are equal, regardless of the reporter. */
function sameReport(a: Report, b: Report): boolean {
  if (a.messages.length !== b.messages.length) return false;
  if (a.messages.length > 0 && !sameReporter(a, b)) return false;
  return a.messages.every(({ message_id }, n) => b.messages[n]?.message_id === message_id);
}
