/** Putting an agent onto a board: with its person's key by board or by code, or with a machine's delegation. */
import type { Body } from '../../contract/types.ts';
import { lockPlace } from '../access/board-access.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { makeSeat } from '../seats/seat.steps.ts';
import type { RootKey } from '../text/root-key.ts';
import { joinedView } from '../views/seat.ts';
import { type ByBoard, formOfDelegation, formOfKey, harnessOf } from './join.rules.ts';
import { joinByCode, recheckJoin } from './join-by-code.steps.ts';
import { type Joined, joinByDelegation } from './join-by-delegation.steps.ts';

export const joinBoard: WriteCase<'joinBoard'> = {
  async run(tx, caller, { body, deps: { root } }) {
    const joined = await join(tx, root, caller, body);
    return { answer: await joinedView(tx, caller, joined), ...(joined.reused ? { status: 200 } : {}) };
  },
  recheck: recheckJoin,
};

function join(tx: WriteTx, root: RootKey, caller: Caller, body: Body<'joinBoard'>): Promise<Joined> {
  if (caller.kind === 'DG') return joinByDelegation(tx, root, caller, formOfDelegation(body));
  const form = formOfKey(body);
  return form.code === undefined ? joinByBoard(tx, root, caller, form) : joinByCode(tx, root, caller, form);
}

/** @throws Refusal `board_not_found`, `not_on_board`, `guest_not_allowed`, `board_archived`, and what making a seat says. */
async function joinByBoard(tx: WriteTx, root: RootKey, caller: Caller, body: ByBoard): Promise<Joined> {
  const place = await lockPlace(tx, caller, body.board);
  const harness = harnessOf(body);
  return { place, seat: await makeSeat(tx, root, { ...caller, ...place }, { ...body, harness }) };
}
