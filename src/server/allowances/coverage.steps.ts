/** Whether a person's standing allowance does a request at once. */
import type { AdminAction } from '../../contract/types.ts';
import { boardsNamed, kinds } from '../approvals/actions.rules.ts';
import { countAutomatic } from '../approvals/approvals.store.ts';
import type { Requester } from '../approvals/requester.steps.ts';
import { boardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { agentMayAdd } from '../members/adding.steps.ts';
import { memberById } from '../members/members.store.ts';
import { readSettings } from '../settings/settings.store.ts';
import { type AllowanceRow, categoriesOf, readAllowance } from './allowances.store.ts';

const DAY = 86_400_000;
const AUTOMATIC_INVITES = 20;

/** The allowance that covers it; null: the person is asked. */
export async function coverage(tx: WriteTx, requester: Requester, action: AdminAction): Promise<AllowanceRow | null> {
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
