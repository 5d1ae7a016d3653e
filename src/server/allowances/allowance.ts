/** What a person's agents may do without asking, as the person reads and sets it. */
import type { Answer, Category } from '../../contract/types.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { readSettings } from '../settings/settings.store.ts';
import { foreignPosition } from '../text/bound-token.ts';
import { cutPage, readPageToken } from '../text/page-token.ts';
import { timestamp } from '../text/time.ts';
import { changeAllowance, changedBy, INVITE_WARNING } from './allowance.steps.ts';
import { type AllowanceRow, allowanceOf, categoriesOf, listRevisions, type RevisionRow } from './allowances.store.ts';

export const getAllowance: ReadCase<'getAllowance'>['run'] = async (tx, caller) =>
  view(tx, caller, await allowanceOf(tx, caller.person.person_id));

export const setAllowance: WriteCase<'setAllowance'>['run'] = async (tx, caller, { body }) => ({
  answer: await replace(tx, caller, body.categories, body.revision),
});

export const clearAllowance: WriteCase<'clearAllowance'>['run'] = async (tx, caller) => ({
  answer: await replace(tx, caller, []),
});

async function replace(tx: WriteTx, caller: Caller, categories: Category[], revision?: number) {
  const row = await allowanceOf(tx, caller.person.person_id);
  const trigger = categories.length === 0 ? 'clear' : 'set';
  const change = { trigger, categories, by: changedBy(caller), read: revision } as const;
  return view(tx, caller, await changeAllowance(tx, row, change));
}

async function view(tx: ReadTx, { person }: Caller, row: AllowanceRow): Promise<Answer<'getAllowance'>> {
  const categories = categoriesOf(row);
  const { agents_add_people } = await readSettings(tx);
  const usable: Record<Category, boolean> = {
    invite_people: person.server_role === 'admin',
    add_people: agents_add_people,
  };
  return {
    id: row.id,
    person_id: row.person_id,
    revision: row.revision,
    categories,
    effective: categories.filter((category) => usable[category]),
    ...(categories.includes('invite_people') ? { warning: INVITE_WARNING } : {}),
  };
}

/** Newest first. */
export const listAllowanceRevisions: ReadCase<'listAllowanceRevisions'>['run'] = async (
  tx,
  caller,
  { query: { limit, after } },
) => {
  const { id, revision } = await allowanceOf(tx, caller.person.person_id);
  const before = readPageToken(after)?.created_at ?? null;
  if (before !== null && before > revision) throw foreignPosition();
  const rows = await listRevisions(tx, id, before, limit + 1);
  // A position in this list is a revision.
  const { page, next_after } = cutPage(
    rows.map((row) => ({ ...row, created_at: row.revision, id })),
    limit,
  );
  return { revisions: page.map(revisionView), next_after };
};

const revisionView = (row: RevisionRow): Answer<'listAllowanceRevisions'>['revisions'][number] => ({
  revision: row.revision,
  categories: categoriesOf(row),
  changed_at: timestamp(row.changed_at),
  changed_by: {
    with: row.changed_with,
    ...(row.key_id === null ? {} : { key_id: row.key_id }),
    ...(row.session_id === null ? {} : { session_id: row.session_id }),
    ...(row.approval_id === null ? {} : { approval_id: row.approval_id }),
  },
});
