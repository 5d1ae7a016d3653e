/** Clears expired lines. Reads ignore them anyway; this wakes those who wait for changes. */
import type { Logger } from 'pino';
import type { Repeat } from '../db/clock.ts';
import type { Database } from '../db/tx.ts';
import { hasLapsed } from '../lines/lines.rules.ts';
import { clearLines } from '../lines/lines.steps.ts';
import { listReportedLines, type ReportedLine } from '../lines/lines.store.ts';
import type { Serving } from './serving.ts';

export const LINES_EVERY_MS = 25_000;
const PAGE = 1_000;

/** Looks at the start and every 25 seconds, but not before an outage is noted: it may keep lines. @returns a function that stops it. */
export const sweepLines = (db: Database, serving: Serving, repeat: Repeat, log: Logger): (() => void) =>
  repeat(LINES_EVERY_MS, async (stopped) => {
    try {
      if (await serving.hasNoted()) await clearLapsed(db, stopped);
    } catch (error) {
      log.error({ err: error }, 'clearing lines that have ended failed; it is tried again');
    }
  });

async function clearLapsed(db: Database, stopped: () => boolean): Promise<void> {
  for (let after = ''; !stopped(); ) {
    const { page, lapsed } = await db.read(async (tx) => {
      const lines = await listReportedLines(tx, after, PAGE);
      return { page: lines, lapsed: lines.filter((line) => hasLapsed(line, line, tx.now)) };
    });
    if (lapsed.length > 0) await clear(db, lapsed);
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.member_id;
  }
}

const clear = (db: Database, lines: ReportedLine[]): Promise<void> =>
  db.write(async (tx) => {
    for (const { board_id, member_id, at } of lines) await clearLines(tx, board_id, { member_id, at });
  });
