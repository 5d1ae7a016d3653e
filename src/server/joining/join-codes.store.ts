/** Join codes. Only a keyed digest of a code is kept. */
import type { Knex } from 'knex';
import type { Role } from '../../contract/types.ts';
import { rolesMakingCodes } from '../boards/policy.rules.ts';
import { countRows, idsOf } from '../db/query.ts';
import { insertInto, rowBy } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type JoinCodeRow = {
  id: string;
  board_id: string;
  digest: Buffer;
  kind: 'pairing' | 'guest';
  role: string;
  guest_handle: string | null;
  /** Bound when the code was made for a guest who was on the server already. */
  guest_person_id: string | null;
  maker_member_id: string;
  maker_person_id: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  used_at: number | null;
  /** The key and the seat that a new guest got by it. */
  used_key_id: string | null;
  used_member_id: string | null;
  uses: number;
  last_used_at: number | null;
};

/** Which codes: those these members made, those for a role, these themselves, or all of the board. */
export type CodeScope = { makers: string[] } | { roles: string[] } | { ids: string[] } | 'all';

/** A board's codes within a scope that did not end by themselves, oldest first. */
export const openCodes = (tx: ReadTx, boardId: string, scope: CodeScope): Promise<JoinCodeRow[]> =>
  tx.query<JoinCodeRow>((db) => {
    const query = open(db, tx, boardId).orderBy(['created_at', 'id']).select('*');
    if (scope === 'all') return query;
    if ('ids' in scope) return query.whereIn('id', scope.ids);
    return 'makers' in scope ? query.whereIn('maker_member_id', scope.makers) : query.whereIn('role', scope.roles);
  });

export const setCodesRevoked = (tx: WriteTx, ids: string[]): Promise<number> =>
  tx.change((db) => db('join_codes').whereIn('id', ids).update({ revoked_at: tx.now }));

export const codeByDigest = rowBy<JoinCodeRow>('join_codes', 'digest');
export const codeById = rowBy<JoinCodeRow>('join_codes', 'id');
export const insertCode = insertInto<JoinCodeRow>('join_codes');

/** What of a board says which of its codes let somebody in. */
interface CodeBoard {
  id: string;
  roles: Readonly<Record<string, Role>>;
}

/** How many codes of a board let somebody in. */
export const countWorkingCodes = (tx: ReadTx, on: CodeBoard): Promise<number> =>
  countRows(tx, (db) => working(db, tx, on));

/** Which of these codes of a board let somebody in. */
export const workingAmong = async (tx: ReadTx, on: CodeBoard, ids: string[]): Promise<Set<string>> =>
  new Set(ids.length === 0 ? [] : await idsOf(tx, (db) => working(db, tx, on).whereIn('id', ids).select('id')));

/**
 * Codes that let somebody in. One for a guest does not once its handle is somebody else's, or the guest it was made for is
 * one no more; one of an agent does not while the agent's role may make none.
 */
function working(db: Knex, tx: ReadTx, { id, roles }: CodeBoard): Knex.QueryBuilder {
  const guest = db('people').whereRaw('people.id = guest_person_id').where('server_role', 'guest');
  const holder = db('people').whereRaw('people.handle = guest_handle').whereNull('removed_at').select('id');
  const reserved = db('handle_reservations').whereRaw('handle = guest_handle').select('handle');
  const maker = db('members').whereRaw('members.id = maker_member_id');
  return open(db, tx, id)
    .where((fits) =>
      fits
        .where('kind', 'pairing')
        .orWhereExists(guest.whereNull('removed_at').select('id'))
        .orWhere((free) => free.whereNull('guest_person_id').whereNotExists(holder).whereNotExists(reserved)),
    )
    .whereExists(
      maker
        .where((may) => may.where('members.kind', 'human').orWhereIn('members.role', rolesMakingCodes(roles)))
        .select('id'),
    );
}

/** Codes that were not revoked or used up, and whose time has not passed. */
const open = (db: Knex, { now }: ReadTx, boardId: string) =>
  db('join_codes')
    .where('board_id', boardId)
    .whereNull('revoked_at')
    .whereNull('used_at')
    .where('expires_at', '>', now);

/** Counts a use; a code for a guest is used up by it. */
export const noteCodeUse = (
  tx: WriteTx,
  code: Pick<JoinCodeRow, 'id' | 'kind' | 'uses'>,
  made: { keyId: string; memberId: string } | null,
): Promise<number> =>
  tx.change((db) =>
    db('join_codes')
      .where('id', code.id)
      .update({
        uses: code.uses + 1,
        last_used_at: tx.now,
        ...(code.kind === 'guest' ? { used_at: tx.now } : {}),
        ...(made ? { used_key_id: made.keyId, used_member_id: made.memberId } : {}),
      }),
  );

interface CodeFilter {
  on: CodeBoard;
  /** Only those this member made. */
  maker?: string;
  /** Also those that ended after this time; left out: working ones only. */
  endedAfter?: number;
  after?: string;
  limit: number;
}

/** Codes of a board, newest first. */
export const listCodeRows = (tx: ReadTx, filter: CodeFilter): Promise<JoinCodeRow[]> =>
  tx.query<JoinCodeRow>((db) => {
    const since = filter.endedAfter;
    const query = since === undefined ? working(db, tx, filter.on) : endedSince(db, since, filter.on.id);
    if (filter.maker !== undefined) query.where('maker_member_id', filter.maker);
    if (filter.after !== undefined) query.where('id', '<', filter.after);
    return query.orderBy('id', 'desc').limit(filter.limit).select('*');
  });

/** Those that work, and those that ended after this time. */
function endedSince(db: Knex, since: number, boardId: string): Knex.QueryBuilder {
  const query = db('join_codes').where('board_id', boardId).where('expires_at', '>', since);
  for (const end of ['revoked_at', 'used_at']) query.where((either) => either.whereNull(end).orWhere(end, '>', since));
  return query;
}
