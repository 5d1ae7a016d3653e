/** Turning a board open or private. */
import type { Answer, Body } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import { requireOwner } from '../access/authority.ts';
import type { WriteTx } from '../db/tx.ts';
import { countLive } from '../files/files.store.ts';
import { openCodes } from '../joining/join-codes.store.ts';
import type { WriteCase } from '../operation/usecase.ts';
import type { BoardRow } from './boards.store.ts';
import { setVisibility } from './set-lifecycle.steps.ts';

export const setBoardVisibility: WriteCase<'setBoardVisibility'> = {
  worksArchived: ({ visibility }) => visibility === 'private',

  async run(tx, caller, { params, body }) {
    const { place, acting } = await actingOn(tx, caller, params.board);
    await requireOwner(tx, place);
    const answer = await foreseen(tx, place.board, body);
    if (body.dry_run) return { answer, tried: true };
    if (answer.changed) await setVisibility(acting, answer);
    return { answer };
  },
};

/** What the change does. The board's row is locked, so it is also what the change will have done. */
async function foreseen(
  tx: WriteTx,
  board: BoardRow,
  { visibility, dry_run }: Body<'setBoardVisibility'>,
): Promise<Answer<'setBoardVisibility'>> {
  const changed = board.visibility !== visibility;
  const closing = changed && visibility === 'private';
  return {
    board: board.name,
    before: board.visibility,
    after: visibility,
    changed,
    dry_run,
    reveals:
      changed && visibility === 'open' ? { messages: board.message_count, files: await countLive(tx, board.id) } : null,
    join_codes_canceled: closing ? (await openCodes(tx, board.id, 'all')).length : 0,
    agents_add_people: closing ? false : board.agents_add_people === 1,
  };
}
