/** Changing an allowance: each real change is a revision of its own, for good. */
import { type ErrorCode, Refusal } from '../../contract/errors.ts';
import type { Category } from '../../contract/types.ts';
import { transition } from '../approvals/transitions.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { type AllowanceTrigger, allowanceState, allowanceTable } from './allowance-states.rules.ts';
import {
  type AllowanceRow,
  categoriesOf,
  insertRevision,
  type RevisionRow,
  saveAllowance,
} from './allowances.store.ts';

export type ChangedBy = Pick<RevisionRow, 'changed_with'> &
  Partial<Pick<RevisionRow, 'key_id' | 'session_id' | 'approval_id'>>;

export interface AllowanceChange {
  trigger: AllowanceTrigger;
  /** What it is to be. */
  categories: readonly Category[];
  by: ChangedBy;
  /** The revision the caller has read; left out: any. */
  read?: number | undefined;
}

/** Changes an allowance whose row is locked, as its table says. @throws Refusal `allowance_changed` */
export async function changeAllowance(
  tx: WriteTx,
  row: AllowanceRow,
  { trigger, categories, by, read }: AllowanceChange,
): Promise<AllowanceRow> {
  const text = JSON.stringify([...categories].sort());
  const { effect } = await transition(allowanceTable, allowanceState(categoriesOf(row)), trigger, {
    stale: () => read !== undefined && read !== row.revision,
    equal: () => text === row.categories,
  });
  if (effect.refused) throw allowanceChanged(effect.refused, row);
  if (!effect.revises) return row;
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

const allowanceChanged = (code: ErrorCode, row: AllowanceRow): Refusal =>
  new Refusal(code, 'The allowance was changed since it was read.', {
    hint: 'Read it again, then decide: service allowance show',
    details: { revision: row.revision, categories: categoriesOf(row) },
  });
