/** Records what has ended by time alone. Only notices and stored secrets depend on it: every read looks at the clock. */
import { idsOf } from '../db/query.ts';
import type { WriteTx } from '../db/tx.ts';
import { dropExpired } from '../notices/notices.store.ts';
import { sweepPairings } from '../pairing/endings.steps.ts';
import { forgetRequestKeys, isPending, pendingOf } from './approvals.store.ts';
import { clearPassed } from './capsules.store.ts';
import { closeForKeys, closeRows } from './closings.steps.ts';

/** Answers how many rows it took of each kind at most. */
export async function sweepOnboarding(tx: WriteTx, limit: number): Promise<number> {
  const overdue = await pendingOf(tx, (query) => query.where('a.expires_at', '<=', tx.now), limit);
  await closeRows(tx, overdue, 'time_over');
  await closeForKeys(tx, await endedKeys(tx));
  await clearPassed(tx);
  await forgetRequestKeys(tx);
  const pairings = await sweepPairings(tx, limit);
  return Math.max(overdue.length, pairings, await dropExpired(tx, limit));
}

/** Expired keys that pending requests or capsules depend on. */
const endedKeys = (tx: WriteTx): Promise<string[]> =>
  idsOf(tx, (db) =>
    db({ k: 'access_keys' })
      .where('k.expires_at', '<=', tx.now)
      // Each by its own index, which has nothing of what is decided and collected.
      .where((either) =>
        either
          .whereIn('k.id', db('approvals').where(isPending(db)).select('parent_key_id'))
          .orWhereIn(
            'k.id',
            db({ o: 'approval_outcomes' })
              .join({ a: 'approvals' }, 'a.id', 'o.approval_id')
              .whereNotNull('o.ciphertext')
              .select('a.parent_key_id'),
          ),
      )
      .orderBy('k.id')
      .select('k.id'),
  );
