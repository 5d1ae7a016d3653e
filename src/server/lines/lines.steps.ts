/** Sets and clears lines and publishes the change to followers of the board. */
import type { WriteTx } from '../db/tx.ts';
import type { ReportRow } from '../seats/reports.store.ts';
import { hasLapsed, type LineRow } from './lines.rules.ts';
import { deleteLines, type LinesWith, linesOf, saveLine } from './lines.store.ts';

/** Sets a member's line in place of the one it has. */
export async function setLine(tx: WriteTx, boardId: string, line: Omit<LineRow, 'at'>): Promise<void> {
  await saveLine(tx, { ...line, at: tx.now });
  tx.publish(`presence:${boardId}`);
}

export async function clearLines(tx: WriteTx, boardId: string, lines: LinesWith): Promise<void> {
  if ((await deleteLines(tx, lines)) > 0) tx.publish(`presence:${boardId}`);
}

/**
 * Clears a line that has ended, before what decides about it is overwritten.
 * @param report as it was until now. @param leaves the agent says that nobody is there any more.
 */
export async function dropLapsed(tx: WriteTx, boardId: string, report: ReportRow, leaves: boolean): Promise<void> {
  const [line] = await linesOf(tx, [report.member_id]);
  if (!line) return;
  const ended = (leaves && line.kind === 'working') || hasLapsed(line, report, tx.now);
  if (ended) await clearLines(tx, boardId, { member_id: line.member_id, at: line.at });
}
