/** What a taken board name may tell about its holder. */
import { Refusal } from '../../contract/errors.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { Caller } from '../operation/caller.ts';

/** Only an archived holder the caller can read is described; every other holder gets the same text. */
export async function nameTaken(tx: ReadTx, caller: Caller, holder: BoardRow): Promise<Refusal> {
  if (await mayDescribe(tx, caller, holder)) {
    caller.shown.holder = holder.id;
    return new Refusal('board_name_taken', `An archived board has the name ${holder.name}.`, {
      hint: 'Choose another name, or have the archived board restored.',
      details: { lifecycle: 'archived' },
    });
  }
  return takenBySomebody();
}

/** Whether the holder is an archived board the caller can read. */
export async function mayDescribe(tx: ReadTx, caller: Caller, holder: BoardRow): Promise<boolean> {
  if (holder.lifecycle !== 'archived') return false;
  if (holder.visibility === 'open' && caller.person.server_role !== 'guest') return true;
  return (await activeHuman(tx, holder.id, caller.person.person_id)) !== undefined;
}

/** The text for every holder that is not described. */
export const takenBySomebody = (): Refusal =>
  new Refusal('board_name_taken', 'This board name is taken.', {
    hint: 'Choose another name. Names stay reserved, also after a board is gone.',
  });
