/** Pairing requests, with what their state rests on as it is now. */
import type { Knex } from 'knex';
import { WEEK } from '../../contract/durations.ts';
import { countRows, idsOf } from '../db/query.ts';
import { insertInto, rowsOver } from '../db/rows.ts';
import { statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { PairingRow, SubjectRow } from './subject.rules.ts';

export type { PairingRow, SubjectRow } from './subject.rules.ts';

/** How long an ended one stands in lists. */
const LISTED_MS = WEEK;

/** Joins one side of a request `r`: its endpoint's seat and key, its person and that person's membership. */
function withSide(query: Knex.QueryBuilder, side: 'initiator' | 'recipient', p: 'i' | 'r'): Knex.QueryBuilder {
  const personId = side === 'initiator' ? 'r.inviter_id' : 'r.recipient_id';
  return query
    .leftJoin({ [`${p}m`]: 'members' }, `${p}m.id`, `r.${side}_agent_id`)
    .leftJoin({ [`${p}k`]: 'access_keys' }, `${p}k.id`, `r.${side}_key_id`)
    .leftJoin({ [`${p}p`]: 'people' }, `${p}p.id`, personId)
    .leftJoin({ [`${p}h`]: 'members' }, (on) =>
      on
        .on(`${p}h.board_id`, 'r.board_id')
        .andOn(`${p}h.person_id`, personId)
        .andOnVal(`${p}h.kind`, 'human')
        .andOnVal(`${p}h.status`, 'active'),
    )
    .select({
      [`${p}_status`]: `${p}m.status`,
      [`${p}_person_id`]: `${p}m.person_id`,
      [`${p}_board_id`]: `${p}m.board_id`,
      [`${p}_key_id`]: `${p}m.key_id`,
      [`${p}_key_revoked_at`]: `${p}k.revoked_at`,
      [`${p}_key_expires_at`]: `${p}k.expires_at`,
      [`${p}_removed_at`]: `${p}p.removed_at`,
      [`${p}_member_id`]: `${p}h.id`,
    });
}

/** Joins so much that Postgres takes longer to plan it than to run it, so it is prepared. */
function subjects(db: Knex): Knex.QueryBuilder {
  const query = db({ r: 'pairing_requests' })
    .leftJoin({ b: 'boards' }, 'b.id', 'r.board_id')
    .leftJoin({ v: 'server_invites' }, 'v.id', 'r.invite_id')
    .leftJoin({ vk: 'access_keys' }, 'vk.id', 'v.parent_key_id')
    .leftJoin({ a: 'approvals' }, 'a.id', 'r.admission_approval_id')
    .leftJoin({ ak: 'access_keys' }, 'ak.id', 'a.parent_key_id')
    .select('r.*', {
      board_lifecycle: 'b.lifecycle',
      board_visibility: 'b.visibility',
      invite_agent_id: 'v.issuing_agent_id',
      invite_key_expires_at: 'vk.expires_at',
      admission_state: 'a.state',
      admission_expires_at: 'a.expires_at',
      admission_key_expires_at: 'ak.expires_at',
    });
  return withSide(withSide(query, 'initiator', 'i'), 'recipient', 'r');
}

/** What is left out is null. */
export const insertRequest = insertInto<Partial<PairingRow>>('pairing_requests');

const byIdStatement = statement<{ id: string }, SubjectRow>((db, p) => subjects(db).where('r.id', p.id));
const withIds = rowsOver<SubjectRow>((db, ids) => subjects(db).whereIn('r.id', ids).orderBy('r.id'));
const ofInvites = rowsOver<SubjectRow>((db, ids) => subjects(db).whereIn('r.invite_id', ids));

export const requestById = (tx: ReadTx, id: string): Promise<SubjectRow | undefined> => tx.first(byIdStatement, { id });

export const requestOfInvite = async (tx: ReadTx, inviteId: string): Promise<SubjectRow | undefined> =>
  (await ofInvites(tx, [inviteId]))[0];

/** Locks a request's row until the commit; its board is locked before it. What it was read as is read again after. */
export const lockRequest = async (tx: WriteTx, id: string): Promise<void> => {
  await tx.query((db) => db('pairing_requests').where('id', id).forUpdate().select('id'));
};

/** Requests of these invites, by invite. */
export const requestsOfInvites = async (tx: ReadTx, inviteIds: string[]): Promise<Map<string, SubjectRow>> => {
  const rows = await ofInvites(tx, inviteIds);
  return new Map(rows.map((row) => [row.invite_id ?? '', row]));
};

const listedStatement = statement<{ person_id: string; ended_after: number }, SubjectRow>((db, p) =>
  subjects(db)
    .where((either) => either.where('r.inviter_id', p.person_id).orWhere('r.recipient_id', p.person_id))
    .where((either) => either.whereNull('r.closed').orWhere('r.closed_at', '>', p.ended_after))
    .orderBy([
      { column: 'r.created_at', order: 'desc' },
      { column: 'r.id', order: 'desc' },
    ]),
);

/** Every request a person has part in that is listed, newest first. */
export const listedRequests = (tx: ReadTx, personId: string): Promise<SubjectRow[]> =>
  tx.all(listedStatement, { person_id: personId, ended_after: tx.now - LISTED_MS });

/** Whether an ended one is still listed. */
export const isListed = (closedAt: number, now: number): boolean => closedAt > now - LISTED_MS;

/** Open requests that something ends or moves, their rows locked in the order of their ids. */
export const openRequests = async (
  tx: WriteTx,
  narrow: (query: Knex.QueryBuilder) => Knex.QueryBuilder,
  limit = 10_000,
): Promise<SubjectRow[]> => {
  const ids = await idsOf(tx, (db) =>
    narrow(db({ r: 'pairing_requests' }).whereNull('r.closed'))
      .orderBy('r.id')
      .limit(limit)
      .forUpdate()
      .select('r.id'),
  );
  return withIds(tx, ids);
};

/** How many of these are open and within their time. */
export const countOpen = (tx: ReadTx, of: { inviter_id: string; recipient_id?: string; board_id?: string }) =>
  countRows(tx, (db) => db('pairing_requests').where(of).whereNull('closed').where('expires_at', '>', tx.now));

/** Changes a request that is still of this generation and open; 0 when something came first. */
export const saveRequest = (
  tx: WriteTx,
  { id, generation }: Pick<PairingRow, 'id' | 'generation'>,
  changes: Partial<PairingRow>,
): Promise<number> =>
  tx.change((db) => db('pairing_requests').where({ id, generation }).whereNull('closed').update(changes));
