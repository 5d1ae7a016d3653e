/** Machine delegations, as their person sees them. */
import type { Delegation } from '../../contract/types.ts';
import type { DelegationRow } from '../delegations/delegations.store.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';

/** A delegation ends by itself or with its key, whichever came first. */
export function delegationView(row: DelegationRow): Delegation {
  const ends = [row.ended_at, row.key_ended_at].filter((end) => end !== null);
  return {
    id: row.id,
    name: row.name,
    key_id: row.key_id,
    created_at: timestamp(row.created_at),
    state: ends.length === 0 ? 'working' : 'ended',
    ended_at: ends.length === 0 ? null : timestampOrNull(Math.min(...ends)),
  };
}
