/**
 * When the index is brought up to date: before every search, and otherwise in quiet moments, so that a post does not pay
 * for it. What is behind is known from the database, so a crash loses nothing.
 */
import type { Logger } from 'pino';
import type { Clock } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { FileTexts, type OpenBytes } from './file-texts.ts';
import { indexBatch } from './index.steps.ts';
import { laggingBoards } from './search.store.ts';

/** A moment is quiet when nothing was written for this long. */
const QUIET_MS = 500;
/** However busy it is, nothing waits longer than about this. */
const LATEST_MS = 60_000;
const BOARDS = 50;

export class Indexer {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #texts: FileTexts;
  #cancel: (() => void) | null = null;
  #waitingSince: number | null = null;
  #running: Promise<void> | null = null;
  #stopped = false;

  /** @param open how the bytes of files are read. */
  constructor(db: Database, clock: Clock, log: Logger, open: OpenBytes) {
    this.#texts = new FileTexts(db, clock, log, open);
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  /** Something was written on a board. */
  noticed(): void {
    if (this.#stopped) return;
    const now = this.#clock.now();
    this.#waitingSince ??= now;
    if (now - this.#waitingSince >= LATEST_MS && this.#cancel) return;
    this.#cancel?.();
    this.#cancel = this.#clock.after(QUIET_MS, () => {
      this.#cancel = null;
      this.#waitingSince = null;
      this.upToDate()
        .then(() => this.#texts.all())
        .catch((error: unknown) => this.#log.warn({ err: error }, 'the search index is behind'));
    });
  }

  /** Everything written before this call is findable after it, but for texts of files that take long to read. */
  async upToDate(): Promise<void> {
    const before = this.#running;
    // A run that has begun may have read its list before the latest write.
    if (before) await before.catch(() => {});
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    await this.#running;
    await this.#texts.soon();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#running?.catch(() => {});
    await this.#texts.stop();
  }

  async #run(): Promise<void> {
    for (;;) {
      const boards = await this.#db.read((tx) => laggingBoards(tx, BOARDS));
      for (const { board_id, head_seq } of boards) {
        while (!this.#stopped && (await this.#db.write((tx) => indexBatch(tx, board_id, head_seq)))) {
          // A full batch: there is more.
        }
      }
      if (boards.length < BOARDS || this.#stopped) return;
    }
  }
}
