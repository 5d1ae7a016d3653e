/** Facts about the server itself, by name. */
import type { ReadTx, WriteTx } from '../db/tx.ts';

type MetaName = 'server_id' | 'key_check';

export const readMeta = async (tx: ReadTx, name: MetaName): Promise<string | null> => {
  const [row] = await tx.query<{ value: string }>((db) => db('meta').where('name', name).select('value'));
  return row?.value ?? null;
};

export const addMeta = (tx: WriteTx, name: MetaName, value: string): Promise<number> =>
  tx.change((db) => db('meta').insert({ name, value }));
