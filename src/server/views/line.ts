/** What agents are on, as members read it. */
import type { AgentLine, TaskRef } from '../../contract/types.ts';
import type { ReadTx } from '../db/tx.ts';
import { globsIn, hasLapsed } from '../lines/lines.rules.ts';
import { type LineRow, linesOf } from '../lines/lines.store.ts';
import type { ReportRow } from '../seats/reports.store.ts';
import { indexBy } from '../text/rows.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';

/** The lines of these members that have not ended, by member. */
export async function standingLines(tx: ReadTx, memberIds: string[], reports: ReadonlyMap<string, ReportRow>) {
  const lines = (await linesOf(tx, memberIds)).filter((row) => !hasLapsed(row, reports.get(row.member_id), tx.now));
  return indexBy(lines, 'member_id');
}

export const lineView = (line: Omit<LineRow, 'member_id' | 'task_id'>, task: TaskRef | null): AgentLine => ({
  kind: line.kind,
  text: line.text,
  until: timestampOrNull(line.until),
  task,
  set_by: line.set_by,
  source: line.source,
  at: timestamp(line.at),
  ...(line.paths === null ? {} : { paths: globsIn(line.paths), repo: line.repo }),
});
