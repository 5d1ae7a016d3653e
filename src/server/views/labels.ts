/** Boards by name, for whoever sees them. */
import type { BoardLabel } from '../../contract/types.ts';
import { boardsWithIds, visibleIds } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';

/** Of these boards, those that the caller's person sees now. */
export async function boardLabels(
  tx: ReadTx,
  { person }: Pick<Caller, 'person'>,
  ids: string[],
): Promise<Map<string, BoardLabel>> {
  const scope = { personId: person.person_id, open: person.server_role !== 'guest' };
  const boards = await boardsWithIds(tx, [...(await visibleIds(tx, scope, [...new Set(ids)]))]);
  return new Map(boards.map(({ id, name, title }) => [id, { id, name, title }]));
}
