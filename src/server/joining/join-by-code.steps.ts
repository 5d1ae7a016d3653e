/** Joining with a person's own key and a join code: a pairing code that they made, or the code made for this guest. */
import { Refusal } from '../../contract/errors.ts';
import { requirePlace } from '../access/board-access.ts';
import { recheckShown } from '../access/replay.ts';
import { boardById, parsePolicy } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { addMembership } from '../members/membership.steps.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { Caller, Shown } from '../operation/caller.ts';
import { requireActive } from '../operation/terms.ts';
import { makeSeat, requireSeat } from '../seats/seat.steps.ts';
import type { RootKey } from '../text/root-key.ts';
import { archivedByCode, codeInvalid, codeWorks, type Found, findCode, makerStands } from './code-validity.steps.ts';
import { type ByCode, harnessOf } from './join.rules.ts';
import type { Joined } from './join-by-delegation.steps.ts';
import { codeById, noteCodeUse } from './join-codes.store.ts';

/** @throws Refusal `join_code_invalid`, `guest_code_not_for_members`, `join_code_not_yours`, then what making a seat says. */
export async function joinByCode(tx: WriteTx, root: RootKey, caller: Caller, body: ByCode): Promise<Joined> {
  const found = await findCode(tx, root, body.code);
  const { board, code } = await requireOwnCode(tx, caller, found);
  caller.shown.code = code.id;
  requireActive(caller, board, archivedByCode);
  const plan = { ...body, harness: harnessOf(body), role: code.role, joinCodeId: code.id };
  const person = { ...caller.person, id: caller.person.person_id };
  const present = await activeHuman(tx, board.id, person.id);
  if (!present) await requireSeat(tx, board, person, plan);
  const member = present ?? (await addMembership(tx, board, { person, join_code_id: code.id }));
  const place = requirePlace({ board, member, policy: parsePolicy(board) });
  const seat = await makeSeat(tx, root, { ...caller, ...place }, plan);
  await noteCodeUse(tx, code, null);
  return { place, seat };
}

/** A code that works, for this caller. */
async function requireOwnCode(tx: WriteTx, caller: Caller, found: Found | null): Promise<Found> {
  if (!found || !(await codeWorks(tx, found))) throw codeInvalid();
  const { code } = found;
  if (code.kind === 'guest' && code.guest_person_id !== caller.person.person_id) throw notForMembers();
  if (code.kind === 'pairing' && code.maker_person_id !== caller.person.person_id) throw notYours(caller);
  return found;
}

const notForMembers = (): Refusal =>
  new Refusal('guest_code_not_for_members', 'This code is for a guest, and for nobody else.', {
    hint: 'People of this server are added to a board instead: service board add HANDLE.',
  });

const notYours = ({ person }: Caller): Refusal =>
  new Refusal('join_code_not_yours', 'This code brings only sessions of the person who made it.', {
    hint: `Ask somebody on that board for: service board add ${person.handle}. Then your agents join with your own codes.`,
  });

/**
 * Whether the kept answer of a join may be shown again. A code that was used up, expired or revoked since is no reason
 * against it, as long as its maker could still make it; a refusal is shown only while the code lets the caller in.
 */
export async function recheckJoin(tx: WriteTx, caller: Caller, shown: Shown): Promise<void> {
  await recheckShown(tx, caller, shown);
  if (shown.code === undefined) return;
  const code = await codeById(tx, shown.code);
  const board = code && (await boardById(tx, code.board_id));
  if (!board) throw codeInvalid();
  if (shown.seat === undefined) await requireOwnCode(tx, caller, { board, code });
  else if (!(await makerStands(tx, { board, code }))) throw codeInvalid();
}
