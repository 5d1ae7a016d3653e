/** The server's settings, where what was never set has its default, and facts about the server itself. */
import type { Settings } from '../../contract/types.ts';
import { firstRow } from '../db/query.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

/**
 * `files`: where the processes of one database last were to keep files together. `last_files`: where files were kept when
 * something was last served from there. `served_at`: when agents last could report.
 */
type MetaName = 'server_id' | 'key_check' | 'files' | 'last_files' | 'served_at';

export const readMeta = async (tx: ReadTx, name: MetaName): Promise<string | null> =>
  (await firstRow<{ value: string }>(tx, (db) => db('meta').where('name', name).select('value')))?.value ?? null;

export const addMeta = (tx: WriteTx, name: MetaName, value: string): Promise<number> =>
  tx.change((db) => db('meta').insert({ name, value }));

/** The same, unless it was set before. */
export const setMetaOnce = (tx: WriteTx, name: MetaName, value: string): Promise<number> =>
  tx.change((db) => db('meta').insert({ name, value }).onConflict('name').ignore());

export const setMeta = (tx: WriteTx, name: MetaName, value: string): Promise<number> =>
  tx.change((db) => db('meta').insert({ name, value }).onConflict('name').merge());

const names = ['board_creation', 'agents_add_people'] as const satisfies readonly (keyof Settings)[];

export const readSettings = async (tx: ReadTx): Promise<Settings> => {
  const rows = await tx.query<{ name: string; value: string }>((db) => db('meta').whereIn('name', names).select('*'));
  const stored = new Map(rows.map((row) => [row.name, row.value]));
  return {
    board_creation: stored.get('board_creation') === 'admins' ? 'admins' : 'members',
    agents_add_people: stored.get('agents_add_people') !== 'false',
  };
};

export const writeSettings = async (tx: WriteTx, settings: Settings): Promise<void> => {
  const rows = names.map((name) => ({ name, value: String(settings[name]) }));
  await tx.change((db) => db('meta').insert(rows).onConflict('name').merge());
};
