/** The credentials of many open streams on one board, with their members there, in one statement for all kinds. */
import type { Knex } from 'knex';
import { type ListStatement, listStatement, type Value } from '../db/statement.ts';
import type { ReadTx } from '../db/tx.ts';
import type { MemberRow } from '../members/member.rules.ts';

/** Kinds of credential that can open a stream. */
export type HolderKind = 'PK' | 'BR' | 'AG';

const ofMember = [
  'board_id',
  'kind',
  'status',
  'role',
  'access',
  'read_up_to',
  'read_count',
  'sent_count',
  'read_sent_count',
  'braked_until',
] as const;

/** A credential, its key, and the member it is: of a person on the board asked about, of a seat on its own. */
export type HolderRow = {
  digest: Buffer;
  key_expires_at: number | null;
  key_revoked_at: number | null;
  person_id: string;
  person_removed_at: number | null;
  /** Null: it is no browser session. */
  session_expires_at: number | null;
  session_ended_at: number | null;
  /** Null: the person is not on the board; the other columns of the member are null then too. */
  member_id: string | null;
} & Pick<MemberRow, (typeof ofMember)[number]>;

const MOST = 4_096;

/** In every branch of the union, in one order. */
function columns(db: Knex, digest: string, session: boolean) {
  const none = () => db.raw('CAST(NULL AS BIGINT)');
  return {
    digest,
    key_expires_at: 'k.expires_at',
    key_revoked_at: 'k.revoked_at',
    person_id: 'p.id',
    person_removed_at: 'p.removed_at',
    session_expires_at: session ? 's.expires_at' : none(),
    session_ended_at: session ? 's.ended_at' : none(),
    member_id: 'm.id',
    ...Object.fromEntries(ofMember.map((column) => [column, `m.${column}`])),
  };
}

/** The person's own active membership of a board, for a query that has `people` as `p`. */
const own = (db: Knex, boardId: Value) => (on: Knex.JoinClause) =>
  on
    .on('m.person_id', 'p.id')
    .andOn(db.raw("m.board_id = ? AND m.kind = 'human' AND m.status = 'active'", [boardId]) as never);

const branches: Record<HolderKind, (db: Knex, boardId: Value, digests: Buffer[]) => Knex.QueryBuilder> = {
  PK: (db, boardId, digests) =>
    db({ k: 'access_keys' })
      .join({ p: 'people' }, 'p.id', 'k.person_id')
      .leftJoin({ m: 'members' }, own(db, boardId))
      .whereIn('k.digest', digests)
      .select(columns(db, 'k.digest', false)),
  BR: (db, boardId, digests) =>
    db({ s: 'browser_sessions' })
      .join({ k: 'access_keys' }, 'k.id', 's.key_id')
      .join({ p: 'people' }, 'p.id', 's.person_id')
      .leftJoin({ m: 'members' }, own(db, boardId))
      .whereIn('s.digest', digests)
      .select(columns(db, 's.digest', true)),
  AG: (db, _boardId, digests) =>
    db({ m: 'members' })
      .join({ k: 'access_keys' }, 'k.id', 'm.key_id')
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .whereIn('m.token_digest', digests)
      .select(columns(db, 'm.token_digest', false)),
};

type Of = { board_id: string };
const byKinds = new Map<string, ListStatement<Of, HolderRow>>();

/** A union of those kinds only that are there: a branch more costs more than its look-ups. */
function statementOf(kinds: readonly HolderKind[]): ListStatement<Of, HolderRow> {
  const name = kinds.join();
  const known = byKinds.get(name);
  if (known) return known;
  const made = listStatement<Of, HolderRow>((db, p, digests) => {
    const [first, ...others] = kinds.map((kind) => branches[kind](db, p.board_id, digests as Buffer[]));
    if (!first) throw new Error('no kind of credential');
    return others.length === 0 ? first : first.unionAll(others);
  });
  byKinds.set(name, made);
  return made;
}

/** The rows of these credentials: one statement for 4,096 of them. @param kinds in a fixed order. */
export async function findHolders(
  tx: ReadTx,
  boardId: string,
  kinds: readonly HolderKind[],
  digests: readonly Buffer[],
): Promise<HolderRow[]> {
  const rows: HolderRow[] = [];
  for (let at = 0; at < digests.length; at += MOST) {
    const found = tx.all(...statementOf(kinds).over({ board_id: boardId }, digests.slice(at, at + MOST)));
    rows.push(...(await found));
  }
  return rows;
}
