/**
 * When the index is brought up to date: before every search, for the boards that are searched, and otherwise in quiet
 * moments, so that a post does not pay for it. What is behind is known from the database, so a crash loses nothing. A
 * search does not wait for ever: where much is missing, as after a rebuild, it is told to come again.
 */
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import type { Clock } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { indexBatch } from '../search/index.steps.ts';
import { laggingBoards, type Searched } from '../search/search.store.ts';
import { FileTexts, type OpenBytes } from './file-texts.ts';
import { inTime } from './in-time.ts';

/** A moment is quiet when nothing was written for this long. */
const QUIET_MS = 500;
/** However busy it is, nothing waits longer than about this. */
const LATEST_MS = 60_000;
const BOARDS = 50;
/** How long a search waits for the boards it searches, and after how many seconds it may come again. */
export const PATIENCE_MS = 3_000;
const AGAIN_SECONDS = 2;
const MOST_REST_MS = 200;

export class Indexer {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #texts: FileTexts;
  #cancel: (() => void) | null = null;
  #waitingSince: number | null = null;
  /** By what is brought up to date. */
  readonly #running = new Map<string, Promise<void>>();
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
      this.#upToDate(null)
        .then(() => this.#texts.all())
        .catch((error: unknown) => this.#log.warn({ err: error }, 'the search index is behind'));
    });
  }

  /**
   * Everything written before this call is findable after it, but for texts of files that take long to read.
   * @throws Refusal `unavailable` when that takes long; it goes on meanwhile.
   */
  async searchable(searched: Searched): Promise<void> {
    if (!(await inTime(this.#clock, PATIENCE_MS, this.#upToDate(searched)))) throw notComplete();
    await this.#texts.soon();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await Promise.allSettled(this.#running.values());
    await this.#texts.stop();
  }

  /** @param searched null: all boards. */
  async #upToDate(searched: Searched | null): Promise<void> {
    const key = JSON.stringify(searched);
    // A run that has begun may have read its list before the latest write.
    await this.#running.get(key)?.catch(() => {});
    let running = this.#running.get(key);
    if (!running) {
      running = this.#run(searched).finally(() => this.#running.delete(key));
      this.#running.set(key, running);
    }
    await running;
  }

  async #run(searched: Searched | null): Promise<void> {
    for (;;) {
      const boards = await this.#db.read((tx) => laggingBoards(tx, BOARDS, searched));
      for (const { board_id, head_seq } of boards) {
        for (let more = true; more && !this.#stopped; ) {
          const started = this.#clock.now();
          more = await this.#db.write((tx) => indexBatch(tx, board_id, head_seq));
          if (more && searched === null) await this.#rest(this.#clock.now() - started);
        }
      }
      if (boards.length < BOARDS || this.#stopped) return;
    }
  }

  /** Leaves the server to others for a while: nobody waits for what is indexed of itself. @param ms what the work took. */
  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(Math.min(Math.max(ms, 0), MOST_REST_MS), resolve));
  }
}

const notComplete = (): Refusal =>
  new Refusal('unavailable', 'The search index is not complete yet.', {
    hint: 'It is being built: search again in a moment.',
    retryAfter: AGAIN_SECONDS,
  });
