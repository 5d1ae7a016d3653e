/** Approvals: what agents asked for, with what their state rests on. */
import type { Knex } from 'knex';
import { DAY, WEEK } from '../../contract/durations.ts';
import type { AdminAction, Approval, Authorization } from '../../contract/types.ts';
import { countRows, firstRow } from '../db/query.ts';
import { insertInto, updateIn } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Position } from '../text/page-token.ts';
import { plainTransition } from '../text/state-table.ts';
import { approvalTable, type ClosedReason, type Ending } from './approval-states.rules.ts';

type State = Approval['state'];

export type ApprovalRow = {
  id: string;
  person_id: string;
  agent_id: string;
  parent_key_id: string;
  kind: AdminAction['kind'];
  /** Canonical JSON. */
  action: string;
  payload_hash: string;
  state: State;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  decision: NonNullable<Approval['decision']> | null;
  closed_reason: ClosedReason | null;
  executed_at: number | null;
  effect: 'applied' | 'already' | null;
  /** JSON of `Authorization`. */
  authorization: string | null;
  invite_id: string | null;
};

/** An approval with its requester as it is now. */
export type RequestRow = ApprovalRow & {
  seat_status: string | null;
  seat_person_id: string | null;
  seat_key_id: string | null;
  seat_board_id: string | null;
  board_lifecycle: string | null;
  key_revoked_at: number | null;
  key_expires_at: number | null;
  person_removed_at: number | null;
};

export const actionOf = (row: Pick<ApprovalRow, 'action'>): AdminAction => JSON.parse(row.action) as AdminAction;
export const authorizationOf = (row: Pick<ApprovalRow, 'authorization'>): Authorization | null =>
  row.authorization === null ? null : (JSON.parse(row.authorization) as Authorization);

/** How long a decided one stands in the list. */
const LISTED_MS = WEEK;

const withRequester = (db: Knex): Knex.QueryBuilder =>
  db({ a: 'approvals' })
    .leftJoin({ m: 'members' }, 'm.id', 'a.agent_id')
    .leftJoin({ b: 'boards' }, 'b.id', 'm.board_id')
    .leftJoin({ k: 'access_keys' }, 'k.id', 'a.parent_key_id')
    .leftJoin({ p: 'people' }, 'p.id', 'a.person_id')
    .select('a.*', {
      seat_status: 'm.status',
      seat_person_id: 'm.person_id',
      seat_key_id: 'm.key_id',
      seat_board_id: 'm.board_id',
      board_lifecycle: 'b.lifecycle',
      key_revoked_at: 'k.revoked_at',
      key_expires_at: 'k.expires_at',
      person_removed_at: 'p.removed_at',
    });

/** The state that an approval is in, whether or not anything has written it down yet. */
export function effective(row: RequestRow, now: number): { state: State; reason: ClosedReason | null } {
  if (row.state !== 'pending') return { state: row.state, reason: row.closed_reason };
  const ending = endingOf(row, now);
  if (ending === null) return { state: 'pending', reason: null };
  return { state: 'expired', reason: plainTransition(approvalTable, 'pending', ending).effect.reason ?? null };
}

function endingOf(row: RequestRow, now: number): Ending | null {
  if (row.expires_at <= now) return 'time_over';
  if (row.person_removed_at !== null) return 'person_ended';
  if (row.key_revoked_at !== null || (row.key_expires_at !== null && row.key_expires_at <= now)) return 'key_ended';
  const seated = row.seat_status === 'active' && row.seat_person_id === row.person_id;
  if (!seated || row.seat_key_id !== row.parent_key_id || row.board_lifecycle === 'deleted') return 'seat_ended';
  return null;
}

export const insertApproval = insertInto<ApprovalRow>('approvals');
export const saveApproval = updateIn<ApprovalRow>('approvals');

export const approvalById = (tx: ReadTx, id: string): Promise<RequestRow | undefined> =>
  firstRow(tx, (db) => withRequester(db).where('a.id', id));

/** Locks an approval's row until the commit. Read it again afterwards: it may have changed. */
export const lockApproval = async (tx: WriteTx, id: string): Promise<void> => {
  await tx.query((db) => db('approvals').where('id', id).forUpdate().select('id'));
};

/** A key that a seat asked with, kept for a day. */
type RequestKey = { agent_id: string; key_hash: Buffer; approval_id: string; asked_at: number };

export const insertRequestKey = insertInto<RequestKey>('approval_keys');

/** The request that a seat asked for with this key in the last day. */
export const approvalByKey = (tx: ReadTx, agentId: string, hash: Buffer): Promise<RequestRow | undefined> =>
  firstRow(tx, (db) =>
    withRequester(db)
      .join({ q: 'approval_keys' }, 'q.approval_id', 'a.id')
      .where({ 'q.agent_id': agentId, 'q.key_hash': hash })
      .where('q.asked_at', '>', tx.now - DAY),
  );

/** Frees keys that are older than a day: this one of a seat, or all. */
export const forgetRequestKeys = (tx: WriteTx, key: Partial<Pick<RequestKey, 'agent_id' | 'key_hash'>> = {}) =>
  tx.change((db) =>
    db('approval_keys')
      .where(key)
      .where('asked_at', '<=', tx.now - DAY)
      .delete(),
  );

/** The seat's pending request for the same. */
export const samePending = (tx: ReadTx, agentId: string, hash: string): Promise<RequestRow | undefined> =>
  firstRow(tx, (db) =>
    withRequester(db)
      .where({ 'a.agent_id': agentId, 'a.payload_hash': hash, 'a.state': 'pending' })
      .where('a.expires_at', '>', tx.now)
      .orderBy('a.created_at', 'desc')
      .limit(1),
  );

/** Requests that wait for a decision, of an agent or of all agents of a person. */
export const countPending = (tx: ReadTx, of: { agent_id: string } | { person_id: string }): Promise<number> =>
  countRows(tx, (db) =>
    db('approvals')
      .where({ ...of, state: 'pending' })
      .where('expires_at', '>', tx.now),
  );

/** Invites of a person that an allowance issued since then. */
export const countAutomatic = (tx: ReadTx, personId: string, since: number): Promise<number> =>
  countRows(tx, (db) =>
    db('approvals')
      .where({ person_id: personId, kind: 'invite_people', decision: 'allowance' })
      .where('created_at', '>', since),
  );

/** Changes an approval that is pending; 0 when something came first. */
export const close = (tx: WriteTx, id: string, change: Partial<ApprovalRow> & { state: State }): Promise<number> =>
  tx.change((db) =>
    db('approvals')
      .where({ id, state: 'pending' })
      .update({ decided_at: tx.now, ...change }),
  );

/** All listed approvals of a person or an agent, in no order. */
export const listedRows = (tx: ReadTx, of: { 'a.person_id': string } | { 'a.agent_id': string }) =>
  tx.query<RequestRow>((db) =>
    withRequester(db)
      .where(of)
      .where((either) => either.where('a.state', 'pending').orWhere('a.decided_at', '>', tx.now - LISTED_MS)),
  );

/** A person's requests that nothing has decided; some may have ended meanwhile without being written down. */
export const undecidedRows = (tx: ReadTx, personId: string): Promise<RequestRow[]> =>
  tx.query<RequestRow>((db) => withRequester(db).where({ 'a.person_id': personId, 'a.state': 'pending' }));

/** When it was decided, or ended with its time or its key. */
export const decidedAt = ({ decided_at, expires_at, key_expires_at }: RequestRow): number =>
  decided_at ?? Math.min(expires_at, key_expires_at ?? expires_at);

/** Later than any time: decided ones stand after all pending ones, and newest first. */
const AFTER_PENDING = 4e15;

/** Pending first, oldest first; then decided, newest first. Each with its place in that order. */
export function inOrder(rows: RequestRow[], now: number): { row: RequestRow; place: Position }[] {
  const placed = rows.flatMap((row) => {
    const pending = effective(row, now).state === 'pending';
    const at = pending ? row.created_at : decidedAt(row);
    if (!pending && at <= now - LISTED_MS) return [];
    return [{ row, place: { created_at: pending ? at : AFTER_PENDING - at, id: row.id } }];
  });
  return placed.sort((a, b) => compare(a.place, b.place));
}

export const compare = (a: Position, b: Position): number =>
  a.created_at - b.created_at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** As a text, not a value: a partial index is only used where the statement itself says so. */
export const isPending = (db: Knex): Knex.Raw => db.raw("state = 'pending'");

/** Pending requests that something ends. */
export const pendingOf = (tx: WriteTx, narrow: (query: Knex.QueryBuilder) => Knex.QueryBuilder, limit = 10_000) =>
  tx.query<ApprovalRow>((db) =>
    narrow(db({ a: 'approvals' }).where(isPending(db)))
      .orderBy('a.id')
      .limit(limit)
      .forUpdate()
      .select('a.*'),
  );
