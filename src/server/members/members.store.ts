/** Member rows: a person or an agent on one board. */
import { idPattern, patterns } from '../../contract/ids.ts';
import { anyRow, firstRow } from '../db/query.ts';
import { insertInto, rowBy, rowsOver, updateIn } from '../db/rows.ts';
import { listStatement, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { newId, timeOfId } from '../text/ids.ts';
import { idOrder, type MemberRow, type MemberWithPerson } from './member.rules.ts';

export type { MemberRow, MemberWithPerson } from './member.rules.ts';

const withPerson = { handle: 'p.handle', display_name: 'p.display_name', server_role: 'p.server_role' };

export const memberById = rowBy<MemberRow>('members', 'id');
export const insertMember = insertInto<MemberRow>('members');
export const saveMember = updateIn<MemberRow>('members');

/**
 * The id of a member who comes onto a board whose row is held. Members are listed by their ids, so the time in it is later
 * than that of every former one, also where several come in one millisecond, or where a clock is behind.
 */
export async function nextMemberId(tx: WriteTx, boardId: string): Promise<string> {
  const newest = await firstRow<{ id: string }>(tx, (db) =>
    db('members')
      .where('board_id', boardId)
      .orderByRaw(`${idOrder('id')} DESC`)
      .limit(1)
      .select('id'),
  );
  return newId('mem', newest ? Math.max(tx.now, timeOfId(newest.id) + 1) : tx.now);
}

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

/** Present and former members of these names. */
export const membersNamed = (tx: ReadTx, boardId: string, names: string[]): Promise<MemberRow[]> =>
  tx.all(...namedStatement.over({ board_id: boardId }, names));

const namedStatement = listStatement<{ board_id: string }, MemberRow>((db, p, names) =>
  db('members')
    .where('board_id', p.board_id)
    .whereIn('name', names as string[])
    .select('*'),
);

/** Members of this name, former ones too, on any of these boards. */
export const membersCalled = (tx: ReadTx, boardIds: string[], name: string): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) => db('members').whereIn('board_id', boardIds).where({ name }).select('*'));

export const membersWithIds = rowsOver<MemberWithPerson>((db, ids) =>
  db({ m: 'members' }).join({ p: 'people' }, 'p.id', 'm.person_id').whereIn('m.id', ids).select('m.*', withPerson),
);

/** The same by their ids. */
export const membersById = async (tx: ReadTx, ids: Iterable<string>): Promise<Map<string, MemberWithPerson>> =>
  new Map((await membersWithIds(tx, [...new Set(ids)])).map((member) => [member.id, member]));

/** Whether anybody on a board, past or present, has a role, which the board itself may have no more. */
export const hadRole = (tx: ReadTx, boardId: string, role: string): Promise<boolean> =>
  anyRow(tx, (db) => db('members').where({ board_id: boardId, role }));

/** Active agents of a board with one of these roles, or of these people, in the order they joined. */
export const activeAgents = (tx: ReadTx, boardId: string, by: 'role' | 'person_id', values: string[]) =>
  tx.query<MemberRow>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'agent', status: 'active' })
      .whereIn(by, values)
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

/** Somebody on a board or an agent that was, by name or id; never a person who left. */
export async function findMember(tx: ReadTx, boardId: string, ref: string): Promise<MemberWithPerson | undefined> {
  if (!patterns.memberName.test(ref) && !memberId.test(ref)) return undefined;
  return firstRow(tx, (db) =>
    db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.board_id': boardId, [ref.startsWith('mem_') ? 'm.id' : 'm.name']: ref })
      .where((either) => either.where('m.status', 'active').orWhere('m.kind', 'agent'))
      .select('m.*', withPerson),
  );
}

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
      .orderByRaw(idOrder('m.id'))
      .limit(filter.limit)
      .select('m.*', withPerson);
    if (filter.kind) query.where('m.kind', filter.kind);
    if (filter.after !== undefined) query.where('m.id', '>', filter.after);
    return query;
  });
