/** Board rows. */
import type { Knex } from 'knex';
import { presets, type StoredPolicy } from '../../contract/policy.ts';
import type { Role } from '../../contract/types.ts';
import { lifecycles } from '../../contract/values.ts';
import { countRows, idsOf } from '../db/query.ts';
import { insertInto, rowBy, rowsBy, updateIn } from '../db/rows.ts';
import { Change, listStatement, type Params } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type BoardRow = {
  id: string;
  name: string;
  title: string | null;
  visibility: 'open' | 'private';
  lifecycle: 'active' | 'archived' | 'deleted';
  template: string | null;
  charter: string;
  /** JSON of the roles by name. */
  roles: string;
  /** JSON of the policy without its overrides, which are derived. */
  policy: string;
  agents_add_people: number;
  task_prefix: string | null;
  created_at: number;
  creator_person_id: string;
  creator_member_id: string;
  head_seq: number;
  head_hash: Buffer;
  head_at: number;
  /** Messages on the board, and those of them to everyone. */
  message_count: number;
  everyone_count: number;
  /** Tasks that were done, not cancelled; answers to asks, not withdrawals. */
  done_count: number;
  answer_count: number;
  last_message_at: number | null;
  /** 1 while active agents of at least two people are on the board. */
  show_owner: number;
};

/** In one order for all, so that two who lock several boards do not wait for each other. */
const lockStatement = (column: 'id' | 'name') =>
  listStatement<Params, BoardRow>((db, _p, values) =>
    db('boards')
      .whereIn(column, values as string[])
      .orderBy('id')
      .select('*')
      .forUpdate(),
  );
const byIdLocked = lockStatement('id');
const byNameLocked = lockStatement('name');

/** Not for use cases: they find boards through their caller (access/board-access.ts). */
export const boardByName = rowBy<BoardRow>('boards', 'name');
export const boardById = rowBy<BoardRow>('boards', 'id');
export const lockBoardByName = async (tx: WriteTx, name: string): Promise<BoardRow | undefined> => {
  const board = await tx.one(byNameLocked, 'name', name);
  return board && tx.once(`board:${board.id}`, async () => board);
};
export const lockBoardById = (tx: WriteTx, id: string): Promise<BoardRow | undefined> =>
  tx.once(`board:${id}`, () => tx.one(byIdLocked, 'id', id));

const changingHead = new Change<BoardRow>('boards', {
  ...{ head_seq: 'bigint', head_hash: 'bytea', head_at: 'bigint', last_message_at: 'bigint' },
  ...{ message_count: 'bigint', everyone_count: 'bigint', done_count: 'bigint', answer_count: 'bigint' },
});

/** Writes the head of the record and the running counts of a locked board. */
export const saveHead = (tx: WriteTx, board: BoardRow): Promise<void> => tx.send(changingHead, board);

export const insertBoard = insertInto<BoardRow>('boards');

const updateBoard = updateIn<BoardRow>('boards');

/** Changes columns of a board, and the row at hand with them. */
export async function saveBoard(tx: WriteTx, board: BoardRow, columns: Partial<BoardRow>): Promise<void> {
  await updateBoard(tx, board.id, columns);
  Object.assign(board, columns);
}

/** Names that are `base` or start with `base-`, in use now or for ever. */
export const namesLike = async (tx: ReadTx, base: string): Promise<Set<string>> => {
  const rows = await tx.query<{ name: string }>((db) =>
    db('boards').where('name', base).orWhere('name', 'like', `${base}-%`).select('name'),
  );
  return new Set(rows.map((row) => row.name));
};

/** The boards this person is on; with `open` also the open ones. */
interface Scope {
  personId: string;
  open: boolean;
  /** Only this board (an agent's own). */
  boardId?: string;
}

interface BoardListFilter extends Scope {
  lifecycle: 'active' | 'archived' | 'all';
  after?: string;
  limit: number;
}

const inScope = (filter: Scope) => (db: Knex) => {
  const mine = db('members').where({ person_id: filter.personId, kind: 'human', status: 'active' }).select('board_id');
  const query = db('boards').whereIn('lifecycle', lifecycles);
  if (filter.boardId !== undefined) query.where('id', filter.boardId);
  return query.where((either) => {
    either.whereIn('id', mine);
    if (filter.open) either.orWhere('visibility', 'open');
  });
};

/** Those of these boards that are in the scope. */
export async function visibleIds(tx: ReadTx, scope: Scope, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set(await idsOf(tx, (db) => inScope(scope)(db).whereIn('boards.id', ids).select('boards.id')));
}

/** Boards of a list, by name. */
export const listBoardRows = (tx: ReadTx, filter: BoardListFilter): Promise<BoardRow[]> =>
  tx.query<BoardRow>((db) => {
    const query = inScope(filter)(db).orderBy('name').limit(filter.limit).select('*');
    if (filter.lifecycle !== 'all') query.where('lifecycle', filter.lifecycle);
    if (filter.after !== undefined) query.where('name', '>', filter.after);
    return query;
  });

export const countArchived = (tx: ReadTx, scope: Scope): Promise<number> =>
  countRows(tx, (db) => inScope(scope)(db).where('lifecycle', 'archived'));

interface HiddenRow {
  id: string;
  lifecycle: 'active' | 'archived';
  created_at: number;
  creator_person_id: string;
  creator_handle: string;
  people: number;
}

/** Private boards a person is not on: only for a server admin, by id and never by name. */
export const listHiddenRows = (
  tx: ReadTx,
  { personId, lifecycle, after, limit }: Omit<BoardListFilter, 'open' | 'boardId'>,
): Promise<HiddenRow[]> =>
  tx.query<HiddenRow>((db) => {
    const query = db({ b: 'boards' })
      .join({ p: 'people' }, 'p.id', 'b.creator_person_id')
      .where('b.visibility', 'private')
      .whereIn('b.lifecycle', lifecycles)
      .whereNotExists(
        db('members')
          .whereRaw('members.board_id = b.id')
          .where({ person_id: personId, kind: 'human', status: 'active' })
          .select(db.raw('1')),
      )
      .orderBy('b.id')
      .limit(limit)
      .select('b.id', 'b.lifecycle', 'b.created_at', 'b.creator_person_id', {
        creator_handle: 'p.handle',
        people: db('members').whereRaw('members.board_id = b.id').where({ kind: 'human', status: 'active' }).count(),
      });
    if (lifecycle !== 'all') query.where('b.lifecycle', lifecycle);
    if (after !== undefined) query.where('b.id', '>', after);
    return query;
  });

/** Characters of all texts that are kept: owners choose theirs, and many long ones would fill the memory. */
const MOST_KEPT = 4_194_304;

/** Most boards share a few texts; what was parsed is remembered, frozen by its type. */
function remembering<T>(complete: (stored: T) => T = (stored) => stored): (text: string) => T {
  const known = new Map<string, T>();
  let kept = 0;
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const parsed = complete(JSON.parse(text) as T);
    if (known.size >= 1_000 || kept + text.length > MOST_KEPT) {
      known.clear();
      kept = 0;
    }
    known.set(text, parsed);
    kept += text.length;
    return parsed;
  };
}

const policies = remembering<Readonly<StoredPolicy>>((policy) => ({ ...presets[policy.preset], ...policy }));
const roleMaps = remembering<Readonly<Record<string, Role>>>();

/** What was stored before a setting existed has that of its preset. */
export const parsePolicy = (board: Pick<BoardRow, 'policy'>): Readonly<StoredPolicy> => policies(board.policy);
export const parseRoles = (board: Pick<BoardRow, 'roles'>): Readonly<Record<string, Role>> => roleMaps(board.roles);
/** What of a board says which of its join codes let somebody in. */
export const codeBoard = (board: Pick<BoardRow, 'id' | 'roles'>) => ({ id: board.id, roles: parseRoles(board) });

/** Boards a person is or was on, held until the commit, in the order of their ids; deleted ones are left alone. */
export const lockBoardsOfPerson = (tx: WriteTx, personId: string): Promise<BoardRow[]> =>
  tx.query<BoardRow>((db) =>
    db('boards')
      .whereIn('lifecycle', lifecycles)
      .whereIn('id', db('members').where({ person_id: personId, kind: 'human' }).select('board_id'))
      .orderBy('id')
      .forUpdate()
      .select('*'),
  );

/** Boards by their ids, deleted ones included. */
export const boardsWithIds = rowsBy<BoardRow>('boards', 'id');
