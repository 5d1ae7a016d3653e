/** Ends or moves pairing requests when a seat, key, person, membership, board, invite or approval ends. */
import type { Knex } from 'knex';
import type { PairingSide } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { membersWithIds } from '../members/members.store.ts';
import { moveFromOutside, publish, settle } from './move.steps.ts';
import type { Trigger } from './pairing-states.rules.ts';
import { endedProofKeys, revokeProofsOf } from './proofs.store.ts';
import { openRequests, type SubjectRow } from './requests.store.ts';

type Narrow = (query: Knex.QueryBuilder) => Knex.QueryBuilder;

async function moveAll(tx: WriteTx, narrow: Narrow, on: Trigger, by?: (row: SubjectRow) => PairingSide | undefined) {
  for (const row of await openRequests(tx, narrow)) {
    const side = by?.(row);
    await moveFromOutside(tx, row, on, side === undefined ? {} : { side });
  }
}

const waiting: Narrow = (query) => query.whereNull('r.recipient_id');

/** Requests that an agent's own invite belongs to. */
const byAgentsInvite =
  (column: 'issuing_agent_id' | 'parent_key_id', ids: string[]): Narrow =>
  (query) =>
    waiting(query).whereIn('r.invite_id', (invites) =>
      invites.from('server_invites').whereNotNull('issuing_agent_id').whereIn(column, ids).select('id'),
    );

/** Seats ended, or came under another key. */
export async function endpointsOfSeats(tx: WriteTx, seatIds: string[]): Promise<void> {
  if (seatIds.length === 0) return;
  const gone = (await membersWithIds(tx, seatIds)).filter((seat) => seat.status !== 'active').map((seat) => seat.id);
  // An invite whose initiating seat is gone leads nowhere; one that an agent asked for ends with the key behind the seat too.
  await moveAll(tx, (query) => waiting(query).whereIn('r.initiating_agent_id', gone), 'invite_ended');
  await moveAll(tx, byAgentsInvite('issuing_agent_id', seatIds), 'invite_ended');
  await endpointsEnd(tx, 'agent_id', seatIds);
}

export async function endpointsOfKeys(tx: WriteTx, keyIds: string[]): Promise<void> {
  if (keyIds.length === 0) return;
  await moveAll(tx, byAgentsInvite('parent_key_id', keyIds), 'invite_ended');
  await endpointsEnd(tx, 'key_id', keyIds);
}

async function endpointsEnd(tx: WriteTx, column: 'agent_id' | 'key_id', ids: string[]): Promise<void> {
  await revokeProofsOf(tx, column, ids);
  const selected: Narrow = (query) =>
    query.where((either) => either.whereIn(`r.initiator_${column}`, ids).orWhereIn(`r.recipient_${column}`, ids));
  await moveAll(tx, selected, 'endpoint_ended');
}

const ofPerson = (query: Knex.QueryBuilder, personId: string): Knex.QueryBuilder =>
  query.where((either) => either.where('r.inviter_id', personId).orWhere('r.recipient_id', personId));

const sideOfPerson =
  (personId: string) =>
  (row: SubjectRow): PairingSide =>
    row.inviter_id === personId ? 'initiator' : 'recipient';

/**
 * A person leaves the server: their invites end first, then what they have part in without being on its board. The rest
 * ends with their memberships: there the board is locked before its requests, as everywhere.
 */
export async function pairingsOfPerson(tx: WriteTx, personId: string): Promise<void> {
  const invited: Narrow = (query) => waiting(query).where('r.inviter_id', personId);
  await moveAll(tx, invited, 'invite_ended', () => 'initiator');
  const away: Narrow = (query) =>
    ofPerson(query, personId).whereNotExists((own) =>
      own
        .from({ own: 'members' })
        .whereRaw('own.board_id = r.board_id')
        .where({ 'own.person_id': personId, 'own.kind': 'human', 'own.status': 'active' })
        .select('own.id'),
    );
  await moveAll(tx, away, 'person_ended', sideOfPerson(personId));
}

/** A person is off a board. */
export function pairingsOfMembership(tx: WriteTx, personId: string, boardId: string): Promise<void> {
  const there: Narrow = (query) => ofPerson(query.where('r.board_id', boardId), personId);
  return moveAll(tx, there, 'person_ended', sideOfPerson(personId));
}

export const pairingsOfBoard = (tx: WriteTx, boardId: string): Promise<void> =>
  moveAll(tx, (query) => query.where('r.board_id', boardId), 'board_deleted');

/** Invites were revoked. */
export const pairingsOfInvites = (tx: WriteTx, inviteIds: string[]): Promise<void> =>
  inviteIds.length === 0
    ? Promise.resolve()
    : moveAll(tx, (query) => waiting(query).whereIn('r.invite_id', inviteIds), 'invite_ended');

/** The person did not let the recipient onto the board. */
export const pairingsOfApproval = (tx: WriteTx, approvalId: string): Promise<void> =>
  moveAll(tx, (query) => query.where('r.admission_approval_id', approvalId), 'admission_refused');

/** The recipient is on the board now: they see what was proposed to them. */
export async function markRecipientOnBoard(tx: WriteTx, approvalId: string): Promise<void> {
  for (const row of await openRequests(tx, (query) => query.where('r.admission_approval_id', approvalId)))
    publish(tx, row);
}

/** Writes down what time alone has ended. Answers how many rows it took at most. */
export async function sweepPairings(tx: WriteTx, limit: number): Promise<number> {
  const overdue = await openRequests(tx, (query) => query.where('r.expires_at', '<=', tx.now), limit);
  for (const row of overdue) await settle(tx, row);
  const keys = await endedProofKeys(tx, limit);
  await endpointsOfKeys(tx, keys);
  return Math.max(overdue.length, keys.length);
}
