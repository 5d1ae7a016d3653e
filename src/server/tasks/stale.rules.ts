/** When a task counts as left by its owner. */
import type { Policy } from '../../contract/types.ts';
import type { Reported } from '../seats/presence.rules.ts';

/**
 * When a task of an agent is stale unless somebody comes back or writes, in milliseconds since the epoch; null: never.
 * @param wrote when its owner or the owner's person last wrote to it.
 */
export function staleAt(after: Policy['stale_after'], report: Reported, wrote: number): number | null {
  return after === 'off' ? null : Math.max(lastSeen(report), wrote) + after * 1_000;
}

/** The last moment at which somebody was there. A presence that is not repeated counts from its last report. */
const lastSeen = ({ presence, presence_since, reported_at }: Reported): number =>
  (presence === 'no_session' ? presence_since : reported_at) ?? 0;
