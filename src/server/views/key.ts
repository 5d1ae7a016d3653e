/** Access keys, as their person sees them. */
import type { AccessKey } from '../../contract/types.ts';
import type { ReadTx } from '../db/tx.ts';
import { type AccessKeyRow, countOfKeys } from '../keys/keys.store.ts';
import { idsIn } from '../text/rows.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';

export async function keyViews(tx: ReadTx, rows: AccessKeyRow[]): Promise<AccessKey[]> {
  const counts = await countOfKeys(tx, idsIn(rows));
  return rows.map((row) => {
    const count = counts.get(row.id);
    const state = stateOf(row, tx.now);
    // Nothing of an ended key works, even where its rows say so; its agents are still on their boards.
    const live = state === 'working';
    return {
      id: row.id,
      name: row.name,
      created_at: timestamp(row.created_at),
      expires_at: timestampOrNull(row.expires_at),
      idle_expiry_seconds: row.idle_seconds,
      state,
      revoked_at: timestampOrNull(row.revoked_at),
      last_used_at: timestampOrNull(row.last_used_at),
      browser_sessions: live ? (count?.sessions ?? 0) : 0,
      agent_seats: count?.seats ?? 0,
      delegations: live ? (count?.delegations ?? 0) : 0,
      origin: row.origin,
      parent_key_id: row.parent_key_id,
      server_invites: count?.invites ?? 0,
    };
  });
}

export const keyView = async (tx: ReadTx, row: AccessKeyRow): Promise<AccessKey> => (await keyViews(tx, [row]))[0]!;

function stateOf(row: AccessKeyRow, now: number): AccessKey['state'] {
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'working';
}
