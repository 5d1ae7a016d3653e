/**
 * When the index is brought up to date: before every search, for the boards that are searched, and otherwise in quiet
 * moments, so that a post does not pay for it. What is behind is known from the database, so a crash loses nothing. A
 * search does not wait for ever: where much is missing, as after a rebuild, it is told to come again.
 */
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import { type Clock, inTime } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { indexBatch } from '../search/index.steps.ts';
import { laggingBoards, type Searched } from '../search/search.store.ts';
import { fileTexts, type OpenBytes } from './file-texts.ts';

/** A moment is quiet when nothing was written for this long. */
export const QUIET_MS = 500;
/** However busy it is, nothing waits longer than about this. */
const LATEST_MS = 60_000;
const BOARDS = 50;
/** Held while all is brought up to date: of several processes one is enough, and the others would wait for it. */
export const INDEXING = 'indexing';
/** How long a search waits for the boards it searches, and after how many seconds it may come again. */
export const PATIENCE_MS = 3_000;
const AGAIN_SECONDS = 2;
const MOST_REST_MS = 200;

/** What keeps the index up to date. @param open how the bytes of files are read. */
export function searchIndexer(db: Database, clock: Clock, log: Logger, open: OpenBytes) {
  const texts = fileTexts(db, clock, log, open);
  let cancel: (() => void) | null = null;
  let waitingSince: number | null = null;
  /** By what is brought up to date. */
  const runs = new Map<string, Promise<void>>();
  let stopped = false;
  let endRest = (): void => {};
  let working: Promise<void> = Promise.resolve();

  /** Leaves the server to others for a while: nobody waits for what is indexed of itself. @param ms what the work took. */
  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancelRest = clock.after(Math.min(Math.max(ms, 0), MOST_REST_MS), resolve);
      // No timer keeps a process there that has nothing else to do.
      endRest = (): void => {
        cancelRest();
        resolve();
      };
    });

  const run = async (searched: Searched | null): Promise<void> => {
    for (;;) {
      const boards = await db.read((tx) => laggingBoards(tx, BOARDS, searched));
      for (const { board_id, head_seq } of boards) {
        for (let more = true; more && !stopped; ) {
          const started = clock.now();
          more = await db.write((tx) => indexBatch(tx, board_id, head_seq));
          if (more && searched === null && !stopped) await rest(clock.now() - started);
        }
      }
      if (boards.length < BOARDS || stopped) return;
    }
  };

  /** @param searched null: all boards. */
  const upToDate = async (searched: Searched | null): Promise<void> => {
    const key = JSON.stringify(searched);
    // A run that has begun may have read its list before the latest write.
    await runs.get(key)?.catch(() => {});
    const running = runs.get(key) ?? run(searched).finally(() => runs.delete(key));
    runs.set(key, running);
    await running;
  };

  /** Brings all up to date, or looks again later if another process is at it: that one may not see the latest write. */
  const work = async (): Promise<void> => {
    const free = await db.claim(INDEXING, 0);
    if (!free) return noticed();
    try {
      await upToDate(null);
      await texts.all();
    } finally {
      await free();
    }
  };

  const noticed = (): void => {
    if (stopped) return;
    const now = clock.now();
    waitingSince ??= now;
    if (now - waitingSince >= LATEST_MS && cancel) return;
    cancel?.();
    cancel = clock.after(QUIET_MS, () => {
      cancel = null;
      waitingSince = null;
      working = work().catch((error: unknown) => log.warn({ err: error }, 'the search index is behind'));
    });
  };

  return {
    /** Something was written on a board. */
    noticed,
    /**
     * Everything written before this call is findable after it, but for texts of files that take long to read.
     * @throws Refusal `unavailable` when that takes long; it goes on meanwhile.
     */
    async searchable(searched: Searched): Promise<void> {
      if (!(await inTime(clock, PATIENCE_MS, upToDate(searched)))) throw notComplete();
      await texts.soon();
    },
    async stop(): Promise<void> {
      stopped = true;
      cancel?.();
      endRest();
      await Promise.allSettled(runs.values());
      await texts.stop();
      await working;
    },
  };
}

const notComplete = (): Refusal =>
  new Refusal('unavailable', 'The search index is not complete yet.', {
    hint: 'It is being built: search again in a moment.',
    retryAfter: AGAIN_SECONDS,
  });
