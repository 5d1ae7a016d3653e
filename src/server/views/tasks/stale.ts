/** Which tasks were left by their owners: worked out when read, because time alone changes it. */
import type { Policy } from '../../../contract/types.ts';
import type { ReadTx } from '../../db/tx.ts';
import type { Reported } from '../../seats/presence.rules.ts';
import { lastWords, type OwnedRow, ownedByAgents } from '../../tasks/stale.store.ts';
import type { TaskRow } from '../../tasks/tasks.store.ts';
import { idsIn } from '../../text/rows.ts';

/** By task, since when it is stale; only those that are. */
export async function staleTasks(
  tx: ReadTx,
  { stale_after: after }: Pick<Policy, 'stale_after'>,
  tasks: readonly TaskRow[],
): Promise<Map<string, number>> {
  // One that was written to lately is not looked at any further.
  const left = tasks.filter(
    ({ state, owner_at }) => state === 'in_progress' && after !== 'off' && owner_at + after * 1_000 <= tx.now,
  );
  if (left.length === 0) return new Map();
  const times = await staleTimes(tx, await ownedByAgents(tx, { taskIds: idsIn(left) }), () => after);
  return new Map([...times].filter(([, at]) => at <= tx.now));
}

/** By task, when it is or was stale unless something happens. A time to come may turn out later still. */
export async function staleTimes(
  tx: ReadTx,
  rows: readonly OwnedRow[],
  afterOn: (boardId: string) => Policy['stale_after'],
): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const row of rows) {
    const at = staleAt(afterOn(row.board_id), row, row.owner_at);
    if (at !== null) times.set(row.id, at);
  }
  const past = rows.filter(({ id }) => (times.get(id) ?? tx.now + 1) <= tx.now);
  const words = past.length === 0 ? [] : await lastWords(tx, idsIn(past));
  for (const { task_id, at } of words) {
    const row = past.find(({ id }) => id === task_id);
    const later = row && staleAt(afterOn(row.board_id), row, Math.max(row.owner_at, Number(at)));
    if (later) times.set(task_id, later);
  }
  return times;
}

/**
 * When a task of an agent is stale unless somebody comes back or writes, in milliseconds since the epoch; null: never.
 * @param wrote when its owner or the owner's person last wrote to it.
 */
function staleAt(after: Policy['stale_after'], report: Reported, wrote: number): number | null {
  if (after === 'off') return null;
  return Math.max(Math.max(lastSeen(report), wrote) + after * 1_000, report.kept_until ?? 0);
}

/** The last moment at which somebody was there. A presence that is not repeated counts from its last report. */
const lastSeen = ({ presence, presence_since, reported_at }: Reported): number =>
  (presence === 'no_session' ? presence_since : reported_at) ?? 0;
