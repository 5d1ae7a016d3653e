/** A pairing request as its caller may see it; a hidden one is the same as a missing one. */
import { type BoardRow, lockBoardById } from '../boards/boards.store.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { authenticate, type Caller, type PairingCaller } from '../operation/caller.ts';
import { requireTerms } from '../operation/terms.ts';
import { isClosed } from './pairing-states.rules.ts';
import { pairingClosed, pairingNotFound } from './refusals.rules.ts';
import {
  isListed,
  listedRequests,
  lockRequest,
  requestById,
  requestOfInvite,
  type SubjectRow,
} from './requests.store.ts';
import { agentSees, personSees } from './sight.rules.ts';
import { endOf, stateAt } from './subject.rules.ts';

/** An endpoint's own credential can always read its request. */
function maySee(row: SubjectRow, caller: Caller): boolean {
  switch (caller.kind) {
    case 'PC':
      return caller.proof.request_id === row.id;
    case 'AG':
      return agentSees(row, caller.person, caller.seat.board_id);
    default:
      return personSees(row, caller.person);
  }
}

/** @throws Refusal `pairing_not_found`. */
export async function findPairing(tx: ReadTx, caller: Caller, id: string): Promise<SubjectRow> {
  const row = await requestById(tx, id);
  if (!row || !maySee(row, caller)) throw pairingNotFound();
  caller.shown.pairing = row.id;
  return row;
}

/** The request that an invite brings its redeemer, where the caller sees it now. */
export async function pairingOfInvite(tx: ReadTx, caller: Caller, inviteId: string | undefined) {
  const row = inviteId === undefined ? undefined : await requestOfInvite(tx, inviteId);
  return row && maySee(row, caller) ? row.id : undefined;
}

/** Every request that the caller sees now and that is listed, newest first. */
export async function seenRequests(tx: ReadTx, caller: Caller): Promise<SubjectRow[]> {
  const rows = await listedRequests(tx, caller.person.person_id);
  return rows.filter((row) => {
    const end = endOf(row, tx.now);
    return maySee(row, caller) && (end === null || isListed(end.at, tx.now));
  });
}

export interface Held {
  row: SubjectRow;
  board: BoardRow;
}

/** The same with its board and its row locked until the commit, in this order. @throws Refusal `pairing_not_found`. */
export async function lockPairing(tx: WriteTx, caller: Caller, id: string): Promise<Held> {
  const seen = await findPairing(tx, caller, id);
  const board = await lockBoardById(tx, seen.board_id);
  await lockRequest(tx, id);
  const row = await findPairing(tx, caller, id);
  if (!board) throw pairingNotFound();
  return { row, board };
}

/**
 * A request as the endpoint that shows its proof may use it. What the proof rests on is read again once everything is locked,
 * so that nothing that ended meanwhile is used. @throws Refusal `pairing_not_found`, `unauthorized`.
 */
export async function lockOwnPairing(tx: WriteTx, caller: PairingCaller, id: string): Promise<Held> {
  const held = await lockPairing(tx, caller, id);
  await authenticate(tx, caller.credential);
  return held;
}

/** @throws Refusal `pairing_closed`, and what the operation's row refuses. */
export function requireOpen(tx: ReadTx, caller: Caller, { row, board }: Held): void {
  if (isClosed(stateAt(row, tx.now))) throw pairingClosed();
  requireTerms(caller, board);
}
