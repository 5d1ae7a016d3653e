/** What a person's new handle changes on the boards they are or were on. */
import { actorOn } from '../access/acting.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { renameSetter } from '../lines/lines.store.ts';
import type { Caller } from '../operation/caller.ts';
import { holderOfHandle, type PersonRow, reserveHandles } from '../people/people.store.ts';
import { append } from '../record/append.steps.ts';
import { saveMember } from './members.store.ts';
import { humansOn } from './memberships.store.ts';

/**
 * Gives the person's memberships of boards that this transaction has locked the new name, with one event each.
 * @param person as they were before it.
 */
export async function renameOnBoards(
  tx: WriteTx,
  boards: BoardRow[],
  caller: Caller,
  { person, handle }: { person: PersonRow; handle: string },
): Promise<void> {
  const ids = boards.map((board) => board.id);
  const members = await humansOn(tx, ids, [person.id, caller.person.person_id]);
  await renameSetter(tx, person.id, handle);
  // Names that a board gave them as it had their handle already; nobody else is to get those either, but for whose handle it is.
  const former = new Set<string>();
  const onBoard = Map.groupBy(members, ({ board_id }) => board_id);
  for (const board of boards) {
    const here = onBoard.get(board.id) ?? [];
    const renamed = here.find((member) => member.person_id === person.id);
    const renamer = here.find(({ person_id, status }) => person_id === caller.person.person_id && status === 'active');
    if (!renamed) continue;
    await saveMember(tx, renamed.id, { name: handle });
    const data = { person_id: person.id, member_id: renamed.id, before: person.handle, after: handle };
    await append(tx, board, { type: 'person.renamed', actor: actorOn(renamer ?? null, caller), data });
    // Lines that they set name them.
    tx.publish(`presence:${board.id}`);
    if (renamed.name !== person.handle) former.add(renamed.name);
  }
  for (const name of former) {
    if ((await holderOfHandle(tx, name)) === undefined) await reserveHandles(tx, person.id, [name]);
  }
}
