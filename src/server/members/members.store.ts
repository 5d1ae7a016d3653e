/** Member rows: a person or an agent on one board. */

import { idPattern, patterns } from '../../contract/ids.ts';
import { firstRow } from '../db/query.ts';
import { listStatement, type Params, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow, MemberWithPerson } from './member.rules.ts';

export type { MemberRow, MemberWithPerson } from './member.rules.ts';

const withPerson = { handle: 'p.handle', display_name: 'p.display_name', server_role: 'p.server_role' };

const byIdStatement = statement<{ id: string }, MemberRow>((db, p) => db('members').where('id', p.id).select('*'));

export const memberById = (tx: ReadTx, id: string): Promise<MemberRow | undefined> => tx.first(byIdStatement, { id });

const ofSessionStatement = statement<{ board_id: string; person_id: string; session_digest: Buffer }, MemberRow>(
  (db, p) =>
    db('members')
      .where({ person_id: p.person_id, kind: 'agent', board_id: p.board_id, session_digest: p.session_digest })
      .orderBy('first_joined_at', 'desc')
      .orderBy('id', 'desc')
      .select('*'),
);

/** The newest seat of a person's session on a board, ended or not. */
export const seatOfSession = (
  tx: ReadTx,
  of: { board_id: string; person_id: string; session_digest: Buffer },
): Promise<MemberRow | undefined> => tx.first(ofSessionStatement, of);

export const replaceToken = (
  tx: WriteTx,
  { id, token_digest, key_id }: Pick<MemberRow, 'id' | 'token_digest' | 'key_id'>,
): Promise<number> => tx.change((db) => db('members').where('id', id).update({ token_digest, key_id }));

const byNameStatement = statement<{ board_id: string; name: string }, MemberRow>((db, p) =>
  db('members').where({ board_id: p.board_id, name: p.name }).select('*'),
);

/** The present or former member of that name. */
export const memberByName = (tx: ReadTx, boardId: string, name: string): Promise<MemberRow | undefined> =>
  tx.first(byNameStatement, { board_id: boardId, name });

export const membersNamed = (tx: ReadTx, boardId: string, names: string[]): Promise<MemberRow[]> =>
  tx.all(...namedStatement.over({ board_id: boardId }, names));

const namedStatement = listStatement<{ board_id: string }, MemberRow>((db, p, names) =>
  db('members')
    .where('board_id', p.board_id)
    .whereIn('name', names as string[])
    .select('*'),
);

const withIdsStatement = listStatement<Params, MemberWithPerson>((db, _p, ids) =>
  db({ m: 'members' })
    .join({ p: 'people' }, 'p.id', 'm.person_id')
    .whereIn('m.id', ids as string[])
    .select('m.*', withPerson),
);

export const membersWithIds = (tx: ReadTx, ids: string[]): Promise<MemberWithPerson[]> =>
  ids.length === 0 ? Promise.resolve([]) : tx.all(...withIdsStatement.over({}, ids));

/** Active agents of a board with a role, or of a person, in the order they joined. */
export const activeAgents = (
  tx: ReadTx,
  boardId: string,
  by: { role: string } | { person_id: string },
): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'agent', status: 'active', ...by })
      .orderBy('id')
      .select('*'),
  );

/** Active agents that hold one of these roles, in the order they joined. */
export const agentsInRoles = (tx: ReadTx, boardId: string, roles: string[]): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'agent', status: 'active' })
      .whereIn('role', roles)
      .orderBy('id')
      .select('*'),
  );

/** A person's membership of a board by handle, active only. */
export const humanByHandle = (tx: ReadTx, boardId: string, handle: string): Promise<MemberWithPerson | undefined> =>
  firstRow(tx, (db) =>
    db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.board_id': boardId, 'm.kind': 'human', 'm.status': 'active', 'p.handle': handle })
      .whereNull('p.removed_at')
      .select('m.*', withPerson),
  );

const memberId = idPattern('mem');

/** Whether a text can be the name or id of a member. */
const namesMember = (text: string): boolean => patterns.memberName.test(text) || memberId.test(text);

/** Somebody on a board or an agent that was, by name or id; never a person who left. */
export const findMember = async (
  tx: ReadTx,
  boardId: string,
  nameOrId: string,
): Promise<MemberWithPerson | undefined> => {
  if (!namesMember(nameOrId)) return undefined;
  return firstRow(tx, (db) =>
    db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.board_id': boardId, [nameOrId.startsWith('mem_') ? 'm.id' : 'm.name']: nameOrId })
      .where((either) => either.where('m.status', 'active').orWhere('m.kind', 'agent'))
      .select('m.*', withPerson),
  );
};

interface MemberFilter {
  boardId: string;
  kind?: 'human' | 'agent';
  /** Also ended agent seats; people who left are never listed. */
  ended: boolean;
  after?: string;
  limit: number;
}

export const listMemberRows = (tx: ReadTx, filter: MemberFilter): Promise<MemberWithPerson[]> =>
  tx.query<MemberWithPerson>((db) => {
    const query = db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where('m.board_id', filter.boardId)
      .where((either) => {
        either.where('m.status', 'active');
        if (filter.ended) either.orWhere('m.kind', 'agent');
      })
      .orderBy('m.id')
      .limit(filter.limit)
      .select('m.*', withPerson);
    if (filter.kind) query.where('m.kind', filter.kind);
    if (filter.after !== undefined) query.where('m.id', '>', filter.after);
    return query;
  });

export const insertMember = (tx: WriteTx, row: MemberRow): Promise<number> =>
  tx.change((db) => db('members').insert(row));

export const setAccess = (tx: WriteTx, id: string, access: 'admin' | 'member'): Promise<number> =>
  tx.change((db) => db('members').where('id', id).update({ access }));

/** Writes a former member's row as it is from now on. */
export const reviveMember = (tx: WriteTx, { id, ...row }: MemberRow): Promise<number> =>
  tx.change((db) => db('members').where('id', id).update(row));
