/**
 * Who is there on one board, read once for everybody who follows it here: changes that were reported, and presences that
 * run out because nothing was reported. The first look is silent; after it only what differs is told.
 */
import { boardById, parsePolicy } from '../boards/boards.store.ts';
import type { Clock } from '../db/clock.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { presenceAt, runsOutAt, stateWord } from '../seats/presence.rules.ts';
import { type BoardReport, reportsOn } from '../seats/reports.store.ts';
import { timestampOrNull } from '../text/time.ts';
import { frame } from './frames.ts';
import { type Holder, type Right, rightsOn } from './rights.ts';

/** Wake-ups within this many milliseconds are merged; the first of a quiet time is not delayed. */
const MERGE_MS = 100;

/** Somebody who wants to hear of presence. */
export interface Watcher {
  readonly holder: Holder;
  /** Frames by the agent they are about. */
  presences(frames: ReadonlyMap<string, string>, right: Extract<Right, { ok: true }>, boardId: string): void;
}

export class Presences {
  readonly watchers = new Set<Watcher>();
  readonly #boardId: string;
  readonly #db: Database;
  readonly #clock: Clock;
  /** What was last told of each agent that ever reported; null until somebody has looked. */
  #told: Map<string, string> | null = null;
  #lastLook = Number.NEGATIVE_INFINITY;
  #planned = false;
  #cancelRunOut = () => {};

  constructor(boardId: string, db: Database, clock: Clock) {
    this.#boardId = boardId;
    this.#db = db;
    this.#clock = clock;
  }

  /** Begins from what a watcher saw in the read it opened with. */
  startFrom(reports: readonly BoardReport[], now: number): void {
    if (this.#told !== null && this.watchers.size > 0) return;
    this.#told = new Map(reports.map((report) => [report.member_id, faceOf(report, now)]));
    this.#armRunOut(reports, now);
  }

  /** Something was reported: look soon. */
  wake(): void {
    if (this.#planned || this.watchers.size === 0) return;
    this.#planned = true;
    // Clamped: the clock may be set back.
    const wait = Math.min(this.#lastLook + MERGE_MS - this.#clock.now(), MERGE_MS);
    if (wait <= 0) void this.#look();
    else this.#clock.after(wait, () => void this.#look());
  }

  stop(): void {
    this.#cancelRunOut();
  }

  async #look(): Promise<void> {
    this.#planned = false;
    this.#lastLook = this.#clock.now();
    const watchers = [...this.watchers];
    if (watchers.length === 0) return;
    try {
      const { frames, rights } = await this.#db.read((tx) => this.#read(tx, watchers));
      if (frames.size === 0) return;
      for (const watcher of watchers) {
        const right = rights.get(watcher.holder.credential.digest.toString('hex'));
        // Who may not follow any more is told so by the board's feed.
        if (right?.ok && this.watchers.has(watcher)) watcher.presences(frames, right, this.#boardId);
      }
    } catch {
      // Nothing was told: the next look tells the same.
      this.#clock.after(1_000, () => this.wake());
    }
  }

  async #read(tx: ReadTx, watchers: Watcher[]): Promise<{ frames: Map<string, string>; rights: Map<string, Right> }> {
    const board = await boardById(tx, this.#boardId);
    if (!board || board.lifecycle === 'deleted') return { frames: new Map(), rights: new Map() };
    const rights = await rightsOn(
      tx,
      board,
      parsePolicy(board),
      watchers.map((watcher) => watcher.holder),
    );
    const reports = await reportsOn(tx, [board.id]);
    this.#armRunOut(reports, tx.now);
    const told = this.#told ?? new Map<string, string>();
    const frames = new Map<string, string>();
    this.#told = new Map(reports.map((report) => [report.member_id, faceOf(report, tx.now)]));
    for (const report of reports) {
      if (told.get(report.member_id) === this.#told.get(report.member_id)) continue;
      frames.set(
        report.member_id,
        frame('presence', { board: board.name, board_id: board.id, ...shown(report, tx.now) }),
      );
    }
    return { frames, rights };
  }

  /** Looks again when the first presence runs out, unless it is repeated until then. */
  #armRunOut(reports: readonly BoardReport[], now: number): void {
    this.#cancelRunOut();
    const ends = reports.map((report) => runsOutAt(report)).filter((end): end is number => end !== null && end > now);
    if (ends.length === 0) return;
    this.#cancelRunOut = this.#clock.after(Math.min(...ends) - now + 1, () => this.wake());
  }
}

function shown(report: BoardReport, now: number) {
  const { presence, since } = presenceAt(report, now);
  return {
    agent: report.name,
    member_id: report.member_id,
    presence,
    presence_since: timestampOrNull(since),
    delivery: report.delivery,
    line: null,
    state: stateWord(presence),
  };
}

const faceOf = (report: BoardReport, now: number): string => JSON.stringify(shown(report, now));
