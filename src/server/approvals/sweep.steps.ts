/** Records what has ended by time alone. Only notices and stored secrets depend on it: every read looks at the clock. */
import { idsOf } from '../db/query.ts';
import type { WriteTx } from '../db/tx.ts';
import { dropExpired } from '../notices/notices.store.ts';
import { sweepPairings } from '../pairing/endings.steps.ts';
import { forgetRequestKeys, pendingOf } from './approvals.store.ts';
import { clearPassed } from './capsules.store.ts';
import { closeForKeys, closeRows } from './closings.steps.ts';

/** Answers how many rows it took of each kind at most. */
export async function sweepOnboarding(tx: WriteTx, limit: number): Promise<number> {
  const overdue = await pendingOf(tx, (query) => query.where('a.expires_at', '<=', tx.now), limit);
  await closeRows(tx, overdue, 'time_over');
  await closeForKeys(tx, await endedKeys(tx));
  await clearPassed(tx);
  await forgetRequestKeys(tx, limit);
  const pairings = await sweepPairings(tx, limit);
  return Math.max(overdue.length, pairings, await dropExpired(tx, limit));
}

/** Expired keys that pending requests or capsules depend on. */
const endedKeys = (tx: WriteTx): Promise<string[]> =>
  idsOf(tx, (db) =>
    db({ k: 'access_keys' })
      .where('k.expires_at', '<=', tx.now)
      .whereIn(
        'k.id',
        db({ a: 'approvals' })
          .leftJoin({ o: 'approval_outcomes' }, 'o.approval_id', 'a.id')
          .where((either) => either.where('a.state', 'pending').orWhereNotNull('o.ciphertext'))
          .select('a.parent_key_id'),
      )
      .orderBy('k.id')
      .select('k.id'),
  );
