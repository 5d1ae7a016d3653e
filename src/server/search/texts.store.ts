/** Texts of the latest versions of files, kept for what is shown of them and for a rename, which changes no bytes. */
import { rowsBy, rowsOver, writeInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

interface KeptText {
  file_id: string;
  digest: string;
  /** Null: its bytes were not read yet. */
  text: string | null;
}

export const textsOf = rowsBy<KeptText>('search_texts', 'file_id');

/** How many bytes their texts have; null for one that was not read yet. */
export const textSizes = rowsOver<{ file_id: string; size: number | null }>((db, fileIds) =>
  db('search_texts')
    .whereIn('file_id', fileIds)
    .select('file_id', { size: db.raw('octet_length(text)') }),
);

/** In place of what was kept of the version before. */
export const keepText = writeInto<KeptText>('search_texts', ['file_id']);

export const dropTexts = (tx: WriteTx, fileIds: string[]): Promise<number> =>
  tx.change((db) => db('search_texts').whereIn('file_id', fileIds).delete());

/** Files whose bytes are to be read, after one of them. */
export const unreadTexts = (tx: ReadTx, after: string, limit: number): Promise<{ file_id: string; digest: string }[]> =>
  tx.query((db) =>
    db('search_texts')
      .whereRaw('text IS NULL')
      .where('file_id', '>', after)
      .orderBy('file_id')
      .limit(limit)
      .select('file_id', 'digest'),
  );
