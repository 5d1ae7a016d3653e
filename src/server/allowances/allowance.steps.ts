/** Changing an allowance, where each real change is a revision for good, and what an allowance covers. */
import { DAY } from '../../contract/durations.ts';
import { type ErrorCode, Refusal } from '../../contract/errors.ts';
import type { AdminAction, Category } from '../../contract/types.ts';
import { boardsNamed, kinds } from '../approvals/actions.rules.ts';
import { countAutomatic } from '../approvals/approvals.store.ts';
import type { Requester } from '../approvals/requester.steps.ts';
import { boardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { agentMayAdd } from '../members/adding.steps.ts';
import { memberById } from '../members/members.store.ts';
import type { Caller } from '../operation/caller.ts';
import { readSettings } from '../settings/settings.store.ts';
import { transition } from '../text/state-table.ts';
import { type AllowanceTrigger, allowanceState, allowanceTable } from './allowance-states.rules.ts';
import {
  type AllowanceRow,
  categoriesOf,
  insertRevision,
  type RevisionRow,
  readAllowance,
  saveAllowance,
} from './allowances.store.ts';

/** What a person hears whose agents invite on their own. */
export const INVITE_WARNING =
  'An agent that invites people without asking can bring in outsiders, who can then read every open board of this server.';

const AUTOMATIC_INVITES = 20;

type ChangedBy = Pick<RevisionRow, 'changed_with'> &
  Partial<Pick<RevisionRow, 'key_id' | 'session_id' | 'approval_id'>>;

/** With which credential an allowance is changed. */
export const changedBy = (caller: Caller): ChangedBy =>
  caller.kind === 'BR'
    ? { changed_with: 'browser', session_id: caller.session.session_id }
    : { changed_with: 'key', key_id: caller.key.key_id };

interface AllowanceChange {
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

/** The person's allowance that covers what their agent asks for; null: the person is asked. */
export async function findCoveringAllowance(tx: WriteTx, requester: Requester, action: AdminAction) {
  const { category } = kinds[action.kind];
  const allowance = await readAllowance(tx, requester.person.person.person_id);
  if (category === null || !allowance || !categoriesOf(allowance).includes(category)) return null;
  const boards = boardsNamed(action);
  if (boards.length > 0 && !(await readSettings(tx)).agents_add_people) return null;
  if (action.kind === 'add_people') return allowance;
  if (!categoriesOf(allowance).includes('add_people') && !(await mayAddToAll(tx, requester, boards))) return null;
  const issued = await countAutomatic(tx, requester.person.person.person_id, tx.now - DAY);
  return issued < AUTOMATIC_INVITES ? allowance : null;
}

async function mayAddToAll(tx: WriteTx, { agentId }: Requester, boards: string[]): Promise<boolean> {
  const seat = await memberById(tx, agentId);
  for (const id of boards) {
    const board = await boardById(tx, id);
    if (!board || !seat || !(await agentMayAdd(tx, board, seat))) return false;
  }
  return true;
}
