/** Changing an allowance: each real change is a revision of its own, for good. */
import type { Category } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { type AllowanceRow, insertRevision, type RevisionRow, saveAllowance } from './allowances.store.ts';

export type ChangedBy = Pick<RevisionRow, 'changed_with'> &
  Partial<Pick<RevisionRow, 'key_id' | 'session_id' | 'approval_id'>>;

/** Sets the categories of an allowance whose row is held; an equal set changes nothing. */
export async function setCategories(
  tx: WriteTx,
  row: AllowanceRow,
  categories: readonly Category[],
  by: ChangedBy,
): Promise<AllowanceRow> {
  const text = JSON.stringify([...categories].sort());
  if (text === row.categories) return row;
  const changed = { ...row, categories: text, revision: row.revision + 1 };
  await saveAllowance(tx, changed);
  await insertRevision(tx, {
    allowance_id: row.id,
    revision: changed.revision,
    categories: text,
    changed_at: tx.now,
    key_id: null,
    session_id: null,
    approval_id: null,
    ...by,
  });
  tx.publish(`onboarding:${row.person_id}`);
  return changed;
}
