/** Counts of attempts that the processes of one database share. Only Postgres has several processes. */
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

/**
 * The row of a subject in the current window, made or begun anew where needed, and held until the commit. A row of the
 * next window counts as current: transactions may commit in another order than they read the clock.
 */
export async function lockCount(
  tx: WriteTx,
  bucket: string,
  subject: string,
  { start, ms }: { start: number; ms: number },
): Promise<CountRow> {
  const current = 'rate_counts.window_start BETWEEN excluded.window_start AND excluded.window_start + ?';
  const [row] = await tx.query<CountRow>((db) =>
    db.raw(
      `INSERT INTO rate_counts (bucket, subject, window_start, counted, held, at) VALUES (?, ?, ?, 0, 0, ?)
       ON CONFLICT (bucket, subject) DO UPDATE SET
         counted = CASE WHEN ${current} THEN rate_counts.counted ELSE 0 END,
         held = CASE WHEN ${current} THEN rate_counts.held ELSE 0 END,
         window_start = CASE WHEN ${current} THEN rate_counts.window_start ELSE excluded.window_start END,
         at = excluded.at
       RETURNING *`,
      [bucket, subject, start, tx.now, ms, ms, ms],
    ),
  );
  return row as CountRow;
}

export const change = (tx: WriteTx, { bucket, subject }: CountRow, to: Partial<Pick<CountRow, 'counted' | 'held'>>) =>
  tx.change((db) => db('rate_counts').where({ bucket, subject }).update(to));

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
