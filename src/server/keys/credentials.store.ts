/** Rows behind a credential: access keys with their person; sessions, delegations and seats with both. */
import type { Knex } from 'knex';
import type { MidturnPolicy } from '../../contract/types.ts';
import { insertion, listStatement, type Params, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/member.rules.ts';

export interface KeyRow {
  key_id: string;
  key_name: string;
  key_expires_at: number | null;
  key_idle_seconds: number | null;
  key_revoked_at: number | null;
  key_last_used_at: number | null;
  person_id: string;
  handle: string;
  display_name: string | null;
  server_role: 'admin' | 'member' | 'guest';
  person_created_at: number;
  person_removed_at: number | null;
}

export interface SessionRow extends KeyRow {
  session_id: string;
  session_started_with: 'login_code' | 'access_key';
  session_created_at: number;
  session_expires_at: number;
  session_ended_at: number | null;
}

export interface DelegationRow extends KeyRow {
  delegation_id: string;
  delegation_ended_at: number | null;
}

/** A pairing proof with its key: what it is bound to, and until when. */
export interface ProofUseRow extends KeyRow {
  proof_id: string;
  proof_expires_at: number;
  proof_revoked_at: number | null;
  request_id: string;
  side: 'initiator' | 'recipient';
  agent_id: string;
  binding: string;
  generation: number;
}

/** An agent's seat: its row in `members` with its key, its person, and the name and lifecycle of its board. */
export type SeatRow = MemberRow &
  KeyRow & {
    /** By which it was found. */
    token_digest: Buffer;
    /** The mid-turn policy of its person; null: never set. */
    midturn_default: MidturnPolicy | null;
    board_name: string;
    lifecycle: 'active' | 'archived' | 'deleted';
  };

const keyColumns = {
  key_id: 'k.id',
  key_name: 'k.name',
  key_expires_at: 'k.expires_at',
  key_idle_seconds: 'k.idle_seconds',
  key_revoked_at: 'k.revoked_at',
  key_last_used_at: 'k.last_used_at',
  person_id: 'p.id',
  handle: 'p.handle',
  display_name: 'p.display_name',
  server_role: 'p.server_role',
  person_created_at: 'p.created_at',
  person_removed_at: 'p.removed_at',
};

const sessionColumns = {
  ...keyColumns,
  session_id: 's.id',
  session_started_with: 's.started_with',
  session_created_at: 's.created_at',
  session_expires_at: 's.expires_at',
  session_ended_at: 's.ended_at',
};

const delegationColumns = {
  ...keyColumns,
  delegation_id: 'd.id',
  delegation_ended_at: 'd.ended_at',
};

const { key_id: _key, person_id: _person, ...ofKeyAndPerson } = keyColumns;
/** What is read beside all columns of the member, which has the ids of key and person. */
const seatColumns = {
  ...ofKeyAndPerson,
  midturn_default: 'p.midturn_policy',
  board_name: 'b.name',
  lifecycle: 'b.lifecycle',
};

/** The statement of a read, and that of a write, which holds what it reads until the commit; on SQLite there is one writer. */
function readAndLocked<Made>(make: (locked: boolean) => Made): (tx: ReadTx) => Made {
  const [read, locked] = [make(false), make(true)];
  return (tx) => (tx.writable && tx.dialect.shared ? locked : read);
}

/**
 * Holds key and person against those who end or change them, and the credential's `own` row for this transaction alone to
 * write: two shared locks on a row that both transactions then write would wait for each other. How a key was used and what
 * its person prefers may change meanwhile.
 *
 * The one that ends them asks alone for what is shared here first, by the person's id. For the rows only, it would wait as long as
 * requests overlap: a shared row is shared with more at once, past those that wait for it. Names are given in turn.
 */
function holding(db: Knex, query: Knex.QueryBuilder, own?: string): Knex.QueryBuilder {
  query.select({ held: db.raw('pg_advisory_xact_lock_shared(hashtextextended(p.id, 0))') });
  // In one clause of the builder, which knows only one.
  return own
    ? query.forNoKeyUpdate(db.raw(`"${own}" FOR KEY SHARE OF "k", "p"`) as never)
    : query.forKeyShare('k', 'p');
}

/** Rows are locked in the order of their ids, as everything that locks several of them does: no two wait for each other. */
const keys = readAndLocked((locked) =>
  listStatement<Params, KeyRow & { digest: Buffer }>((db, _p, digests) => {
    const query = db({ k: 'access_keys' })
      .join({ p: 'people' }, 'p.id', 'k.person_id')
      .whereIn('k.digest', digests as Buffer[])
      .select({ digest: 'k.digest', ...keyColumns });
    return locked ? holding(db, query.orderBy('k.id')) : query;
  }),
);

const keyById = readAndLocked((locked) =>
  statement<{ id: string }, KeyRow>((db, p) => {
    const query = db({ k: 'access_keys' }).join({ p: 'people' }, 'p.id', 'k.person_id').where('k.id', p.id);
    return locked ? holding(db, query.select(keyColumns)) : query.select(keyColumns);
  }),
);

const sessions = readAndLocked((locked) =>
  listStatement<Params, SessionRow & { digest: Buffer }>((db, _p, digests) => {
    const query = db({ s: 'browser_sessions' })
      .join({ k: 'access_keys' }, 'k.id', 's.key_id')
      .join({ p: 'people' }, 'p.id', 's.person_id')
      .whereIn('s.digest', digests as Buffer[])
      .select({ digest: 's.digest', ...sessionColumns });
    // Signing out writes the session's own row.
    return locked ? holding(db, query.orderBy('s.id'), 's') : query;
  }),
);

const delegation = readAndLocked((locked) =>
  statement<{ digest: Buffer }, DelegationRow>((db, p) => {
    const query = db({ d: 'delegations' })
      .join({ k: 'access_keys' }, 'k.id', 'd.key_id')
      .join({ p: 'people' }, 'p.id', 'd.person_id')
      .where('d.digest', p.digest)
      .select(delegationColumns);
    return locked ? holding(db, query, 'd') : query;
  }),
);

const seats = readAndLocked((locked) =>
  listStatement<Params, SeatRow>((db, _p, digests) => {
    const query = db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .join({ k: 'access_keys' }, 'k.id', 'm.key_id')
      .whereIn('m.token_digest', digests as Buffer[])
      .select('m.*', seatColumns);
    // Most of what a seat does writes the seat's own row.
    return locked ? holding(db, query.orderBy('m.id'), 'm') : query;
  }),
);

const proof = readAndLocked((locked) =>
  statement<{ digest: Buffer }, ProofUseRow>((db, p) => {
    const query = db({ c: 'pairing_credentials' })
      .join({ k: 'access_keys' }, 'k.id', 'c.key_id')
      .join({ p: 'people' }, 'p.id', 'k.person_id')
      .where('c.verifier', p.digest)
      .select(keyColumns, {
        proof_id: 'c.id',
        proof_expires_at: 'c.expires_at',
        proof_revoked_at: 'c.revoked_at',
        request_id: 'c.request_id',
        side: 'c.side',
        agent_id: 'c.agent_id',
        binding: 'c.binding',
        generation: 'c.generation',
      });
    return locked ? holding(db, query) : query;
  }),
);

/** The access key with this digest; in a write transaction its rows are locked until the commit. */
export const findKey = (tx: ReadTx | WriteTx, digest: Buffer): Promise<KeyRow | undefined> =>
  tx.one(keys(tx), 'digest', digest);

/** A key by its id with its person, both held until the commit. */
export const findKeyById = (tx: WriteTx, id: string): Promise<KeyRow | undefined> => tx.first(keyById(tx), { id });

/** The browser session with this digest. */
export const findSession = (tx: ReadTx | WriteTx, digest: Buffer): Promise<SessionRow | undefined> =>
  tx.one(sessions(tx), 'digest', digest);

/** The delegation with this digest. */
export const findDelegation = (tx: ReadTx | WriteTx, digest: Buffer): Promise<DelegationRow | undefined> =>
  tx.first(delegation(tx), { digest });

/** The pairing proof with this digest. */
export const findProof = (tx: ReadTx | WriteTx, digest: Buffer): Promise<ProofUseRow | undefined> =>
  tx.first(proof(tx), { digest });

/** The seat whose current (or last) token has this digest. */
export const findSeat = (tx: ReadTx | WriteTx, digest: Buffer): Promise<SeatRow | undefined> =>
  tx.one(seats(tx), 'token_digest', digest);

const useStatement = statement<{ id: string; now: number; idle_end: number | null }>((db, p) =>
  db('access_keys')
    .where('id', p.id)
    .whereNull('revoked_at')
    .where((open) => open.whereNull('expires_at').orWhere('expires_at', '>', p.now))
    .update({ last_used_at: p.now, expires_at: db.raw('COALESCE(?, expires_at)', [p.idle_end]) }),
);

/** Records a use of a key that has not ended. @param idleEnd its new end, for an idle-expiry key. */
export const recordUse = (tx: WriteTx, id: string, idleEnd: number | null): Promise<number> =>
  tx.run(useStatement, { id, now: tx.now, idle_end: idleEnd });

type NewKey = {
  id: string;
  person_id: string;
  name: string;
  digest: Buffer;
  created_at: number;
  expires_at: number | null;
  idle_seconds: number | null;
  origin: string;
  parent_key_id: string | null;
};

const inserting = insertion<NewKey>('access_keys');

export const insertKey = (tx: WriteTx, key: NewKey): Promise<number> => tx.run(inserting(key), key);

/** Seats by the digests of their tokens, for many open streams at once. */
export const findSeats = (tx: ReadTx, digests: Buffer[]): Promise<SeatRow[]> =>
  digests.length === 0 ? Promise.resolve([]) : tx.all(...seats(tx).over({}, digests));

/** Keys by their digests. */
export const findKeys = (tx: ReadTx, digests: Buffer[]): Promise<(KeyRow & { digest: Buffer })[]> =>
  digests.length === 0 ? Promise.resolve([]) : tx.all(...keys(tx).over({}, digests));

/** Browser sessions by their digests. */
export const findSessions = (tx: ReadTx, digests: Buffer[]): Promise<(SessionRow & { digest: Buffer })[]> =>
  digests.length === 0 ? Promise.resolve([]) : tx.all(...sessions(tx).over({}, digests));
