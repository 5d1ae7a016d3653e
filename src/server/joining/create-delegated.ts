/** Creating a board for a session, with a seat for it, by a machine's delegation. */
import { seeBoardById } from '../access/board-access.ts';
import { recheckShown } from '../access/replay.ts';
import { foundBoard, requireMayCreate } from '../boards/founding.steps.ts';
import { cleanTexts } from '../boards/texts.rules.ts';
import { boardNotFound, type DelegateCaller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { makeSeat } from '../seats/seat.steps.ts';
import { newId } from '../text/ids.ts';
import { joinedView } from '../views/seat.ts';
import { harnessOf } from './join.rules.ts';

export const createDelegatedBoard: WriteCase<'createDelegatedBoard'> = {
  prepare: cleanTexts,

  async run(tx, caller, { body, deps: { root } }) {
    await requireMayCreate(tx, caller);
    const { delegation_id: delegationId } = (caller as DelegateCaller).delegation;
    // The first event names it, and members are listed by their ids: it comes after its person.
    const id = newId('mem', tx.now + 1);
    const { role, agent_name: name, session } = body;
    const plan = { id, role, name, harness: harnessOf(body), session, delegationId };
    const place = await foundBoard(tx, caller, body, plan);
    const seat = await makeSeat(tx, root, { ...caller, ...place }, plan);
    return { answer: await joinedView(tx, caller, { place, seat }) };
  },

  /** The board is still its creator's, and works; the token is still the seat's. A replay never makes another. */
  async recheck(tx, caller, shown) {
    if (shown.seat !== undefined) {
      const { board, member } = await seeBoardById(tx, caller, shown.board ?? '');
      if (!member || board.creator_person_id !== caller.person.person_id) throw boardNotFound();
    }
    await recheckShown(tx, caller, shown);
  },
};
