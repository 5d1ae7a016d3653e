/** Facts about the server itself, by name. */
import { firstRow } from '../db/query.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

type MetaName = 'server_id' | 'key_check';

export const readMeta = async (tx: ReadTx, name: MetaName): Promise<string | null> =>
  (await firstRow<{ value: string }>(tx, (db) => db('meta').where('name', name).select('value')))?.value ?? null;

export const addMeta = (tx: WriteTx, name: MetaName, value: string): Promise<number> =>
  tx.change((db) => db('meta').insert({ name, value }));
