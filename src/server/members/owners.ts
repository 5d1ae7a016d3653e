/** Making somebody an owner of a board, and an owner a member again. */
import { actingOn } from '../access/acting.ts';
import { requireOwner, requirePersonOn } from '../access/authority.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { boardPersonView } from '../views/person.ts';
import { makeOwner, ownershipChanges, unmakeOwner } from './owners.steps.ts';

export const makeBoardOwner: WriteCase<'makeBoardOwner'> = {
  run: (tx, caller, { params, body }) => change(tx, caller, params.board, body.handle, 'owner'),
};

export const unmakeBoardOwner: WriteCase<'unmakeBoardOwner'> = {
  run: (tx, caller, { params }) => change(tx, caller, params.board, params.handle, 'member'),
};

async function change(tx: WriteTx, caller: Caller, board: string, handle: string, role: 'owner' | 'member') {
  const { place, acting } = await actingOn(tx, caller, board);
  await requireOwner(tx, place);
  const member = await requirePersonOn(tx, place, handle);
  if (await ownershipChanges(tx, place.board, member, role)) {
    await (role === 'owner' ? makeOwner : unmakeOwner)({ ...acting, member });
  }
  return { answer: boardPersonView(member, place.board.name) };
}
