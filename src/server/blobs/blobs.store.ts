/** What the database knows of stored bytes: which there are, and since when nobody has asked for them. */
import { anyRow, countRows, firstRow } from '../db/query.ts';
import { rowBy } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

type BlobRow = { digest: string; size: number; touched_at: number };

/** Notes that bytes may lie in the store from now on. They count nothing, and nobody may name them yet. */
export const expectBlob = (tx: WriteTx, digest: string): Promise<number> =>
  tx.change((db) => db('blobs').insert({ digest, size: 0, touched_at: tx.now }).onConflict('digest').ignore());

/** Notes bytes that are in the store, or that they were put there again. */
export const touchBlob = (tx: WriteTx, digest: string, size: number): Promise<number> =>
  tx.change((db) =>
    db('blobs').insert({ digest, size, touched_at: tx.now }).onConflict('digest').merge(['size', 'touched_at']),
  );

/** Keeps bytes from being removed until the commit; false: they are removed already, or just being so. */
export const shareBlob = (tx: WriteTx, digest: string): Promise<boolean> =>
  anyRow(tx, (db) => db('blobs').where({ digest }).where('touched_at', '>', 0).forShare().select('digest'));

/** The row of bytes, held alone until the commit. */
export const lockBlob = (tx: WriteTx, digest: string): Promise<BlobRow | undefined> =>
  firstRow(tx, (db) => db('blobs').where({ digest }).forUpdate().select('*'));

/** Notes that bytes are being removed: nobody may name them any more. */
export const retireBlob = (tx: WriteTx, digest: string): Promise<number> =>
  tx.change((db) => db('blobs').where({ digest }).update({ size: 0, touched_at: 0 }));

/** Forgets bytes that were removed, unless they have been put again. */
export const forgetBlob = (tx: WriteTx, digest: string): Promise<number> =>
  tx.change((db) => db('blobs').where({ digest, touched_at: 0 }).delete());

/** Whether any version of any file names these bytes, removed files and deleted boards included. */
export const isReferenced = (tx: ReadTx, digest: string): Promise<boolean> =>
  anyRow(tx, (db) => db('file_versions').where({ digest }).limit(1).select('digest'));

export const blobOf = rowBy<BlobRow>('blobs', 'digest');

/** Bytes that no version names and nobody asked for since. */
export const unreferenced = (tx: ReadTx, before: number, after: string, limit: number): Promise<BlobRow[]> =>
  tx.query<BlobRow>((db) =>
    db({ b: 'blobs' })
      .where('b.touched_at', '<', before)
      .where('b.digest', '>', after)
      .whereNotExists(db('file_versions').whereRaw('file_versions.digest = b.digest').select(db.raw('1')))
      .orderBy('b.digest')
      .limit(limit)
      .select('b.*'),
  );

/** Bytes of all that is stored. */
export const storedBytes = async (tx: ReadTx): Promise<number> => {
  const row = await firstRow<{ total: number | string | null }>(tx, (db) => db('blobs').sum({ total: 'size' }));
  return Number(row?.total ?? 0);
};

/** Digests and sizes that versions name, in order, each once. */
export const referencedBlobs = (tx: ReadTx, after: string, limit: number) =>
  tx.query<{ digest: string; size: number; versions: number }>((db) =>
    db('file_versions')
      .where('digest', '>', after)
      .groupBy('digest')
      .orderBy('digest')
      .limit(limit)
      .select('digest')
      .min({ size: 'size' })
      .count({ versions: '*' }),
  );

/** Versions that name bytes, the newest first, with the board and the name under which the file is or was there. */
export const namingVersions = (tx: ReadTx, digest: string, limit: number) =>
  tx.query<{ board: string; name: string; version: number }>((db) =>
    db({ v: 'file_versions' })
      .join({ f: 'files' }, 'f.id', 'v.file_id')
      .join({ b: 'boards' }, 'b.id', 'f.board_id')
      .where('v.digest', digest)
      .orderBy('v.at', 'desc')
      .orderBy('f.id', 'desc')
      .limit(limit)
      .select({ board: 'b.name', name: 'f.name', version: 'v.version' }),
  );

export const countVersions = (tx: ReadTx): Promise<number> => countRows(tx, (db) => db('file_versions'));
