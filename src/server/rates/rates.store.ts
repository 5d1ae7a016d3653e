/** Counts of attempts that the processes of one database share. Only Postgres has several processes. */
import { statement } from '../db/statement.ts';
import type { WriteTx } from '../db/tx.ts';

interface CountRow {
  bucket: string;
  subject: string;
  window_start: number;
  /** Attempts, or failures, of this window. */
  counted: number;
  /** Attempts under way. A process that dies leaves them behind until the window ends. */
  held: number;
  /** When it was last used. */
  at: number;
}

type Counts = Pick<CountRow, 'counted' | 'held'>;

const lockStatement = statement<Pick<CountRow, 'bucket' | 'subject' | 'at'> & { start: number; ms: number }, CountRow>(
  (db, p) => {
    const current = 'rate_counts.window_start BETWEEN excluded.window_start AND excluded.window_start + ?';
    return db.raw(
      `INSERT INTO rate_counts (bucket, subject, window_start, counted, held, at) VALUES (?, ?, ?, 0, 0, ?)
       ON CONFLICT (bucket, subject) DO UPDATE SET
         counted = CASE WHEN ${current} THEN rate_counts.counted ELSE 0 END,
         held = CASE WHEN ${current} THEN rate_counts.held ELSE 0 END,
         window_start = CASE WHEN ${current} THEN rate_counts.window_start ELSE excluded.window_start END,
         at = excluded.at
       RETURNING *`,
      [p.bucket, p.subject, p.start, p.at, p.ms, p.ms, p.ms],
    );
  },
);

const changeStatement = statement<Pick<CountRow, 'bucket' | 'subject'> & Counts>((db, p) =>
  db('rate_counts').where({ bucket: p.bucket, subject: p.subject }).update({ counted: p.counted, held: p.held }),
);

/**
 * The row of a subject in the current window, made or begun anew where needed, and held until the commit. A row of the
 * next window counts as current: transactions may commit in another order than they read the clock.
 */
export async function lockCount(
  tx: WriteTx,
  bucket: string,
  subject: string,
  window: { start: number; ms: number },
): Promise<CountRow> {
  const row = await tx.first(lockStatement, { bucket, subject, at: tx.now, ...window });
  return row as CountRow;
}

/** Sets counts of a row that `lockCount` holds; only the commit waits for it. */
export function change(tx: WriteTx, row: CountRow, to: Partial<Counts>): Promise<void> {
  const { bucket, subject, counted, held } = { ...row, ...to };
  return tx.send(changeStatement, { bucket, subject, counted, held });
}

/** Removes a bucket's counts of earlier windows, and of more subjects than `most` those that were least recently used. */
export async function forgetOld(
  tx: WriteTx,
  bucket: string,
  { start, ms }: { start: number; ms: number },
  most: number,
): Promise<void> {
  await tx.change((db) =>
    db('rate_counts')
      .where('bucket', bucket)
      .where('window_start', '<', start - ms)
      .delete(),
  );
  await tx.change((db) =>
    db('rate_counts')
      .where('bucket', bucket)
      .whereIn(
        'subject',
        db('rate_counts')
          .where('bucket', bucket)
          .whereNot('subject', 'server')
          .orderBy('at', 'desc')
          .select('subject')
          .offset(most),
      )
      .delete(),
  );
}
