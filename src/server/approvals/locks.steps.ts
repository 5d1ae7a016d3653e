/** Locks what an action changes before it is decided on, in the order in which every other write locks these rows. */
import type { AdminAction } from '../../contract/types.ts';
import { lockBoardById } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { lockKey } from '../keys/keys.store.ts';
import { lockSeats } from '../members/end-members.store.ts';
import { lockPersonById, shareLockPersonById } from '../people/people.store.ts';
import { boardsNamed } from './actions.rules.ts';

/** For an action that is about to run. Kinds that need the own key lock their boards as they go. */
export async function lockForAction(tx: WriteTx, action: AdminAction, seatBoardId: string | null): Promise<void> {
  switch (action.kind) {
    case 'revoke_key':
      await lockKey(tx, action.key_id);
      return;
    case 'set_server_role':
      await lockPersonById(tx, action.person_id);
      return;
    case 'remove_person':
      if (action.board_id === undefined) {
        await lockPersonById(tx, action.person_id);
        return;
      }
      await lockSeats(tx, { board: action.board_id, of: { person: action.person_id } });
      break;
    case 'add_people':
      await shareLockPersonById(tx, action.person_id);
  }
  await lockBoards(tx, [...boardsNamed(action), ...(seatBoardId === null ? [] : [seatBoardId])]);
}

/** Boards by their ids, one after the other. */
export async function lockBoards(tx: WriteTx, ids: string[]): Promise<void> {
  for (const id of [...new Set(ids)].sort()) await lockBoardById(tx, id);
}
