/** Rows behind a credential: access keys with their person, seats with their board, person and key. */
import { listStatement, type Params, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

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

export interface SeatRow extends KeyRow {
  member_id: string;
  member_name: string;
  member_role: string;
  harness: string | null;
  status: 'active' | 'removed' | 'left';
  removed_at: number | null;
  removed_by: string | null;
  delivery_mode: 'focused' | 'all' | 'humans' | 'off';
  delivery_revision: number;
  board_id: string;
  board_name: string;
  lifecycle: 'active' | 'archived' | 'deleted';
}

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

const seatColumns = {
  ...keyColumns,
  member_id: 'm.id',
  member_name: 'm.name',
  member_role: 'm.role',
  harness: 'm.harness',
  status: 'm.status',
  removed_at: 'm.removed_at',
  removed_by: 'm.removed_by',
  delivery_mode: 'm.delivery_mode',
  delivery_revision: 'm.delivery_revision',
  board_id: 'b.id',
  board_name: 'b.name',
  lifecycle: 'b.lifecycle',
};

const keyStatement = (locked: boolean) =>
  statement<{ digest: Buffer }, KeyRow>((db, p) => {
    const query = db({ k: 'access_keys' })
      .join({ p: 'people' }, 'p.id', 'k.person_id')
      .where('k.digest', p.digest)
      .select(keyColumns);
    return locked ? query.forShare('k', 'p') : query;
  });

const seatStatement = (locked: boolean) =>
  statement<{ digest: Buffer }, SeatRow>((db, p) => {
    const query = db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .join({ k: 'access_keys' }, 'k.id', 'm.key_id')
      .where('m.token_digest', p.digest)
      .select(seatColumns);
    // The seat's own row is written by most of what a seat does; two shared locks on it would wait for each other.
    return locked ? query.forNoKeyUpdate('m').forShare('k', 'p') : query;
  });

const keyRead = keyStatement(false);
const keyLocked = keyStatement(true);
const seatRead = seatStatement(false);
const seatLocked = seatStatement(true);

/** The access key with this digest; in a write transaction its rows are held until the commit. */
export const findKey = (tx: ReadTx | WriteTx, digest: Buffer): Promise<KeyRow | undefined> =>
  tx.first(tx.writable ? keyLocked : keyRead, { digest });

/** The seat whose current (or last) token has this digest. */
export const findSeat = (tx: ReadTx | WriteTx, digest: Buffer): Promise<SeatRow | undefined> =>
  tx.first(tx.writable ? seatLocked : seatRead, { digest });

const useStatement = statement<{ id: string; now: number; expires_at: number | null }>((db, p) =>
  db('access_keys').where('id', p.id).update({ last_used_at: p.now, expires_at: p.expires_at }),
);

/** Records a use of a key and, for an idle-expiry key, its new end. */
export const recordUse = (tx: WriteTx, id: string, expiresAt: number | null): Promise<number> =>
  tx.run(useStatement, { id, now: tx.now, expires_at: expiresAt });

export type NewKey = {
  id: string;
  person_id: string;
  name: string;
  digest: Buffer;
  created_at: number;
  expires_at: number | null;
  idle_seconds: number | null;
  origin: string;
};

const insertKeyStatement = statement<NewKey>((db, p) =>
  db('access_keys').insert({
    id: p.id,
    person_id: p.person_id,
    name: p.name,
    digest: p.digest,
    created_at: p.created_at,
    expires_at: p.expires_at,
    idle_seconds: p.idle_seconds,
    origin: p.origin,
  }),
);

export const insertKey = (tx: WriteTx, key: NewKey): Promise<number> => tx.run(insertKeyStatement, key);

/** A key with its person's active membership of one board, as far as live delivery needs it; null columns: not on it. */
export type KeyOnBoard = KeyRow & {
  digest: Buffer;
  on_id: string | null;
  on_read_up_to: number;
  on_read_count: number;
  on_sent_count: number;
  on_read_sent_count: number;
};

const keysOnStatement = listStatement<{ board_id: string }, KeyOnBoard>((db, p, digests) =>
  db({ k: 'access_keys' })
    .join({ p: 'people' }, 'p.id', 'k.person_id')
    .leftJoin({ m: 'members' }, (on) =>
      on
        .on('m.person_id', 'p.id')
        .andOn(db.raw("m.board_id = ? AND m.kind = 'human' AND m.status = 'active'", [p.board_id]) as never),
    )
    .whereIn('k.digest', digests as Buffer[])
    .select({
      digest: 'k.digest',
      on_id: 'm.id',
      on_read_up_to: 'm.read_up_to',
      on_read_count: 'm.read_count',
      on_sent_count: 'm.sent_count',
      on_read_sent_count: 'm.read_sent_count',
      ...keyColumns,
    }),
);

/** Keys by their digests with what they are on a board, for many open streams at once. */
export const findKeysOn = (tx: ReadTx, boardId: string, digests: Buffer[]): Promise<KeyOnBoard[]> =>
  tx.all(...keysOnStatement.over({ board_id: boardId }, digests));

const seatsStatement = listStatement<Params, SeatRow & { digest: Buffer }>((db, _p, digests) =>
  db({ m: 'members' })
    .join({ b: 'boards' }, 'b.id', 'm.board_id')
    .join({ p: 'people' }, 'p.id', 'm.person_id')
    .join({ k: 'access_keys' }, 'k.id', 'm.key_id')
    .whereIn('m.token_digest', digests as Buffer[])
    .select({ digest: 'm.token_digest', ...seatColumns }),
);

/** Seats by the digests of their tokens, likewise. */
export const findSeats = (tx: ReadTx, digests: Buffer[]): Promise<(SeatRow & { digest: Buffer })[]> =>
  tx.all(...seatsStatement.over({}, digests));

const keysStatement = listStatement<Params, KeyRow & { digest: Buffer }>((db, _p, digests) =>
  db({ k: 'access_keys' })
    .join({ p: 'people' }, 'p.id', 'k.person_id')
    .whereIn('k.digest', digests as Buffer[])
    .select({ digest: 'k.digest', ...keyColumns }),
);

/** Keys by their digests. */
export const findKeys = (tx: ReadTx, digests: Buffer[]): Promise<(KeyRow & { digest: Buffer })[]> =>
  tx.all(...keysStatement.over({}, digests));
