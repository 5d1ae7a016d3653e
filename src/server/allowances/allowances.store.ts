/** Allowances: what a person's agents may do without asking, and how that changed. */

import type { Knex } from 'knex';
import type { Category } from '../../contract/types.ts';
import { heldRow } from '../db/query.ts';
import { insertInto, rowBy } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type AllowanceRow = {
  id: string;
  person_id: string;
  revision: number;
  /** JSON of sorted names. */
  categories: string;
};

export type RevisionRow = {
  allowance_id: string;
  revision: number;
  categories: string;
  changed_at: number;
  changed_with: 'key' | 'browser' | 'server';
  key_id: string | null;
  session_id: string | null;
  approval_id: string | null;
};

export const categoriesOf = (row: { categories: string }): Category[] => JSON.parse(row.categories) as Category[];

/** A person's allowance; in a write its row is locked until the commit. */
export const allowanceOf = async (tx: ReadTx, personId: string): Promise<AllowanceRow> => {
  const row = await heldRow<AllowanceRow>(tx, (db) => db('allowances').where('person_id', personId).select('*'));
  if (!row) throw new Error('every person has an allowance');
  return row;
};

/** The same for everybody else to change meanwhile: what a request rests on. */
export const readAllowance = rowBy<AllowanceRow>('allowances', 'person_id');

export const saveAllowance = (tx: WriteTx, { id, revision, categories }: AllowanceRow): Promise<number> =>
  tx.change((db) => db('allowances').where('id', id).update({ revision, categories }));

export const insertRevision = insertInto<RevisionRow>('allowance_revisions');

/** Newest first, those before a revision. */
export const listRevisions = (tx: ReadTx, allowanceId: string, before: number | null, limit: number) =>
  tx.query<RevisionRow>((db) => {
    const query: Knex.QueryBuilder = db('allowance_revisions').where('allowance_id', allowanceId);
    if (before !== null) query.where('revision', '<', before);
    return query.orderBy('revision', 'desc').limit(limit).select('*');
  });
