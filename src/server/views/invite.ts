/** Server invites, as their issuer sees them: never the secret. */
import type { Answer } from '../../contract/types.ts';
import { visibleIds } from '../boards/boards.store.ts';
import type { ReadTx } from '../db/tx.ts';
import { boardsOf, type InviteRow, type ReceiptRow, stateOf } from '../invites/invites.store.ts';
import type { Caller } from '../operation/caller.ts';
import { requestsOfInvites, type SubjectRow } from '../pairing/requests.store.ts';
import { agentSees, personSees } from '../pairing/sight.rules.ts';
import { idsIn } from '../text/rows.ts';
import { timestamp } from '../text/time.ts';

type Metadata = Answer<'getInvite'>;

/** Boards are named only while the caller sees them. */
export async function inviteViews(tx: ReadTx, caller: Caller, rows: InviteRow[]): Promise<Metadata[]> {
  const seen = await seenBoards(tx, caller, rows.flatMap(boardsOf));
  const pairings = await requestsOfInvites(tx, idsIn(rows.filter((row) => row.pairing !== null)));
  return rows.map((row) => ({
    id: row.id,
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    state: stateOf(row, tx.now),
    boards: boardsOf(row).filter((id) => seen.has(id)),
    ...(row.issuing_agent_id === null ? {} : { issuing_agent_id: row.issuing_agent_id }),
    parent_key_id: row.parent_key_id,
    ...(row.suggested_handle === null ? {} : { suggested_handle: row.suggested_handle }),
    ...namePairing(pairings.get(row.id), caller),
  }));
}

export const inviteView = async (tx: ReadTx, caller: Caller, row: InviteRow): Promise<Metadata> =>
  (await inviteViews(tx, caller, [row]))[0]!;

/** Named only while the caller sees it. */
function namePairing(row: SubjectRow | undefined, caller: Caller): { pairing_request_id?: string } {
  const { person } = caller;
  const seen = row && (caller.kind === 'AG' ? agentSees(row, person, caller.seat.board_id) : personSees(row, person));
  return seen ? { pairing_request_id: row.id } : {};
}

/** @param seen boards and proposals of work that its holder sees now. */
export const receiptView = (
  serverId: string,
  row: ReceiptRow,
  seen: ReadonlySet<string>,
): Answer<'getOnboardingReceipt'> => ({
  server_id: serverId,
  person_id: row.person_id,
  key_id: row.key_id,
  invite_id: row.invite_id,
  handle: row.handle,
  boards: boardsOf(row).filter((id) => seen.has(id)),
  ...(row.pairing_request_id !== null && seen.has(row.pairing_request_id)
    ? { pairing_request_id: row.pairing_request_id }
    : {}),
});

/** Those of these boards that the caller sees. */
export function seenBoards(tx: ReadTx, caller: Caller, ids: string[]): Promise<Set<string>> {
  const personId = caller.person.person_id;
  if (caller.kind === 'AG') return visibleIds(tx, { personId, open: false, boardId: caller.seat.board_id }, ids);
  return visibleIds(tx, { personId, open: caller.person.server_role !== 'guest' }, ids);
}
