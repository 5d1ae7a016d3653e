/** Creating, archiving, restoring and deleting a board. A receipt tells its id and what became of it, nothing else. */
import { Refusal } from '../../contract/errors.ts';
import { idPattern } from '../../contract/ids.ts';
import { actorOn } from '../access/acting.ts';
import { decidesLifecycle } from '../access/authority.ts';
import { lockReached, reachById, seeBoardById, type VisibleBoard } from '../access/board-access.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { boardNotFound, type Caller, type Shown } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { boardView } from '../views/board.ts';
import { type BoardRow, boardById } from './boards.store.ts';
import { foundBoard, requireMayCreate } from './founding.steps.ts';
import { setLifecycle } from './set-lifecycle.steps.ts';
import { cleanTexts } from './texts.rules.ts';

export const createBoard: WriteCase<'createBoard'> = {
  prepare: cleanTexts,

  async run(tx, caller, { body }) {
    await requireMayCreate(tx, caller);
    return { answer: await boardView(tx, caller, await foundBoard(tx, caller, body)) };
  },
};

const steps = {
  archive: { from: 'active', to: 'archived', verb: 'archive' },
  restore: { from: 'archived', to: 'active', verb: 'restore' },
  delete: { from: 'archived', to: 'deleted', verb: 'delete' },
} as const;

type Step = (typeof steps)[keyof typeof steps];

const brdId = idPattern('brd');

type Lifecycle = WriteCase<'archiveBoard' | 'restoreBoard' | 'deleteBoard'>;

const lifecycle = (step: Step): Lifecycle => ({
  async run(tx, caller, { params }) {
    const ref = params.board;
    const found = await lockReached(tx, caller, ref);
    if (brdId.test(ref)) caller.shown.hidden = true;
    requireAuthority(caller, found, step);
    const { board, member } = found;
    const changed = board.lifecycle !== step.to;
    if (changed && board.lifecycle !== step.from) {
      // An admin who is not on a private board does not learn its name.
      throw new Refusal('board_not_archived', 'Only an archived board can be deleted.', {
        hint: `Archive it first: service board archive ${ref}`,
      });
    }
    if (changed) await setLifecycle({ tx, board, actor: actorOn(member, caller) }, step.to, caller.person.person_id);
    if (changed && step.to === 'deleted') caller.shown.deleted = true;
    return { answer: { id: board.id, lifecycle: step.to, changed } };
  },
  recheck: (tx, caller, shown) => recheck(tx, caller, shown, step),
});

export const archiveBoard = lifecycle(steps.archive);
export const restoreBoard = lifecycle(steps.restore);
export const deleteBoard = lifecycle(steps.delete);

function requireAuthority(caller: Caller, { board, member }: VisibleBoard, { verb }: Step): void {
  if (decidesLifecycle(caller, board, member)) return;
  throw new Refusal('board_creator_required', `Only the board's creator or a server admin can ${verb} it.`, {
    hint: 'Ask its creator, while they are still on the board, or a server admin.',
  });
}

/**
 * A receipt is shown again whatever became of the board between active and archived, while its caller could still do
 * the same. After deletion only the receipt of the deletion is returned, and only to those who had the right to delete.
 */
async function recheck(tx: WriteTx, caller: Caller, shown: Shown, step: Step): Promise<void> {
  const board = await boardById(tx, shown.board ?? '');
  if (board?.lifecycle === 'deleted' && shown.deleted) {
    if (!decidesLifecycle(caller, board, await standing(tx, caller, board))) throw boardNotFound();
    return;
  }
  const find = shown.hidden ? reachById : seeBoardById;
  requireAuthority(caller, await find(tx, caller, shown.board ?? ''), step);
}

/** The caller's membership, which outlives the board. */
const standing = async (tx: ReadTx, caller: Caller, board: BoardRow) =>
  caller.seat ?? (await activeHuman(tx, board.id, caller.person.person_id)) ?? null;
