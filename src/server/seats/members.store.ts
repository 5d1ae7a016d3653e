/** Member rows: a person or an agent on one board. */
import { idPattern, patterns } from '../../contract/ids.ts';
import type { DeliveryMode, MidturnPolicy, ServerRole } from '../../contract/types.ts';
import { listStatement, statement } from '../db/statement.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type MemberRow = {
  id: string;
  board_id: string;
  name: string;
  kind: 'human' | 'agent';
  /** The person, or the agent's person. */
  person_id: string;
  role: string | null;
  harness: string | null;
  access: 'admin' | 'member' | null;
  status: 'active' | 'removed' | 'left';
  first_joined_at: number;
  joined_at: number;
  removed_at: number | null;
  removed_by: 'person' | 'board_owner' | 'admin' | 'self' | null;
  token_digest: Buffer | null;
  key_id: string | null;
  session_digest: Buffer | null;
  delivery_mode: DeliveryMode | null;
  delivery_revision: number;
  midturn_policy: MidturnPolicy | null;
  /** The task an agent is on: of its latest start or join. */
  current_task_id: string | null;
  /** Messages this member sent, and those of them to everyone. */
  sent_count: number;
  sent_everyone_count: number;
  /** The read position, and the running counts of board and member at that position. */
  read_up_to: number;
  read_count: number;
  read_everyone_count: number;
  read_sent_count: number;
  read_sent_everyone_count: number;
};

/** What a new member of any kind starts with. */
export const blankMember = {
  role: null,
  harness: null,
  access: null,
  status: 'active' as const,
  removed_at: null,
  removed_by: null,
  token_digest: null,
  key_id: null,
  session_digest: null,
  delivery_mode: null,
  delivery_revision: 0,
  midturn_policy: null,
  current_task_id: null,
  sent_count: 0,
  sent_everyone_count: 0,
  read_count: 0,
  read_everyone_count: 0,
  read_sent_count: 0,
  read_sent_everyone_count: 0,
};

/** Who a member is and where it has read to: what live delivery tells of a person. */
export type Standing = Pick<
  MemberRow,
  'id' | 'kind' | 'person_id' | 'read_up_to' | 'read_count' | 'sent_count' | 'read_sent_count'
>;

/** A member with what its person adds. */
export type MemberWithPerson = MemberRow & { handle: string; display_name: string | null; server_role: ServerRole };

const withPerson = { handle: 'p.handle', display_name: 'p.display_name', server_role: 'p.server_role' };

const humanStatement = statement<{ board_id: string; person_id: string }, MemberRow>((db, p) =>
  db('members').where({ board_id: p.board_id, person_id: p.person_id, kind: 'human', status: 'active' }).select('*'),
);

/** A person's own active membership of a board. */
export const activeHuman = (tx: ReadTx, boardId: string, personId: string): Promise<MemberRow | undefined> =>
  tx.first(humanStatement, { board_id: boardId, person_id: personId });

const humanOfStatement = statement<{ board_id: string; person_id: string }, MemberRow>((db, p) =>
  db('members').where({ board_id: p.board_id, person_id: p.person_id, kind: 'human' }).select('*'),
);

/** A person's own membership of a board, also a former one. */
export const humanOf = (tx: ReadTx, boardId: string, personId: string): Promise<MemberRow | undefined> =>
  tx.first(humanOfStatement, { board_id: boardId, person_id: personId });

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

export const membersWithIds = (tx: ReadTx, ids: string[]): Promise<MemberWithPerson[]> =>
  tx.query<MemberWithPerson>((db) =>
    db({ m: 'members' }).join({ p: 'people' }, 'p.id', 'm.person_id').whereIn('m.id', ids).select('m.*', withPerson),
  );

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
export const humanByHandle = async (
  tx: ReadTx,
  boardId: string,
  handle: string,
): Promise<MemberWithPerson | undefined> => {
  const rows = await tx.query<MemberWithPerson>((db) =>
    db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.board_id': boardId, 'm.kind': 'human', 'm.status': 'active', 'p.handle': handle })
      .whereNull('p.removed_at')
      .select('m.*', withPerson),
  );
  return rows[0];
};

const memberId = idPattern('mem');

/** Whether a text can be the name or id of a member. */
export const namesMember = (text: string): boolean => patterns.memberName.test(text) || memberId.test(text);

/** Somebody on a board or an agent that was, by name or id; never a person who left. */
export const findMember = async (
  tx: ReadTx,
  boardId: string,
  nameOrId: string,
): Promise<MemberWithPerson | undefined> => {
  if (!namesMember(nameOrId)) return undefined;
  const rows = await tx.query<MemberWithPerson>((db) =>
    db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.board_id': boardId, [nameOrId.startsWith('mem_') ? 'm.id' : 'm.name']: nameOrId })
      .where((either) => either.where('m.status', 'active').orWhere('m.kind', 'agent'))
      .select('m.*', withPerson),
  );
  return rows[0];
};

/** Names of a board's owners in the order they first came, at most `limit`. */
export const ownerNames = async (tx: ReadTx, boardId: string, limit: number): Promise<string[]> => {
  const rows = await tx.query<{ name: string }>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'human', status: 'active', access: 'admin' })
      .orderBy('id')
      .limit(limit)
      .select('name'),
  );
  return rows.map((row) => row.name);
};

/** Names of active members in the order they joined, at most `limit`. */
export const activeNames = async (
  tx: ReadTx,
  boardId: string,
  limit: number,
  kind?: 'human' | 'agent',
): Promise<string[]> => {
  const rows = await tx.query<{ name: string }>((db) =>
    db('members')
      .where({ board_id: boardId, status: 'active', ...(kind ? { kind } : {}) })
      .orderBy('id')
      .limit(limit)
      .select('name'),
  );
  return rows.map((row) => row.name);
};

export interface MemberFilter {
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

export interface MemberCounts {
  board_id: string;
  people: number;
  agents: number;
}

/** How many active people and agents boards have. */
export const countMembers = (tx: ReadTx, boardIds: string[]): Promise<MemberCounts[]> =>
  tx.query<MemberCounts>((db) =>
    db('members')
      .whereIn('board_id', boardIds)
      .where('status', 'active')
      .groupBy('board_id')
      .select('board_id', {
        people: db.raw("SUM(CASE WHEN kind = 'human' THEN 1 ELSE 0 END)"),
        agents: db.raw("SUM(CASE WHEN kind = 'agent' THEN 1 ELSE 0 END)"),
      }),
  );

/** A person's active memberships of these boards. */
export const ownMemberships = (tx: ReadTx, personId: string, boardIds: string[]): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members')
      .where({ person_id: personId, kind: 'human', status: 'active' })
      .whereIn('board_id', boardIds)
      .select('*'),
  );

/** How many active agents, and of how many different people; and how many of one person. */
export const agentTotals = async (
  tx: ReadTx,
  boardId: string,
  personId: string,
): Promise<{ agents: number; people: number; own: number }> => {
  const [row] = await tx.query<{ agents: number; people: number; own: number }>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'agent', status: 'active' })
      .select({
        agents: db.raw('COUNT(*)'),
        people: db.raw('COUNT(DISTINCT person_id)'),
        own: db.raw('SUM(CASE WHEN person_id = ? THEN 1 ELSE 0 END)', [personId]),
      }),
  );
  return { agents: Number(row?.agents ?? 0), people: Number(row?.people ?? 0), own: Number(row?.own ?? 0) };
};

/** Names that may stand in the way of `base`, `base-2` …, also where the base was cut to make room for the number. */
export const memberNames = async (tx: ReadTx, boardId: string, base: string): Promise<Set<string>> => {
  const rows = await tx.query<{ name: string }>((db) =>
    db('members')
      .where('board_id', boardId)
      .where('name', 'like', `${base.slice(0, 32)}%`)
      .select('name'),
  );
  return new Set(rows.map((row) => row.name));
};

export const insertMember = (tx: WriteTx, row: MemberRow): Promise<number> =>
  tx.change((db) => db('members').insert(row));

const countActive = async (tx: ReadTx, boardId: string, more: Partial<MemberRow>): Promise<number> => {
  const [row] = await tx.query<{ count: number }>((db) =>
    db('members')
      .where({ board_id: boardId, kind: 'human', status: 'active', ...more })
      .count({ count: '*' }),
  );
  return Number(row?.count ?? 0);
};

export const countPeople = (tx: ReadTx, boardId: string): Promise<number> => countActive(tx, boardId, {});
export const countOwners = (tx: ReadTx, boardId: string): Promise<number> =>
  countActive(tx, boardId, { access: 'admin' });

export const setAccess = (tx: WriteTx, id: string, access: 'admin' | 'member'): Promise<number> =>
  tx.change((db) => db('members').where('id', id).update({ access }));

/** Writes a former member's row as it is from now on. */
export const reviveMember = (tx: WriteTx, { id, ...row }: MemberRow): Promise<number> =>
  tx.change((db) => db('members').where('id', id).update(row));

/** Messages a member missed while away: after their former position, up to the number they came back at. */
export type GapRow = { member_id: string; after_seq: number; up_to_seq: number };

export const addGap = (tx: WriteTx, row: GapRow): Promise<number> => tx.change((db) => db('member_gaps').insert(row));

const sentStatement = statement<{ id: string; sent_count: number; sent_everyone_count: number }>((db, p) =>
  db('members').where('id', p.id).update({ sent_count: p.sent_count, sent_everyone_count: p.sent_everyone_count }),
);

export const saveSent = (tx: WriteTx, member: MemberRow): Promise<number> =>
  tx.run(sentStatement, {
    id: member.id,
    sent_count: member.sent_count,
    sent_everyone_count: member.sent_everyone_count,
  });

const positionStatement = statement<{
  id: string;
  read_up_to: number;
  read_count: number;
  read_everyone_count: number;
  read_sent_count: number;
  read_sent_everyone_count: number;
}>((db, p) =>
  db('members').where('id', p.id).where('read_up_to', '<', p.read_up_to).update({
    read_up_to: p.read_up_to,
    read_count: p.read_count,
    read_everyone_count: p.read_everyone_count,
    read_sent_count: p.read_sent_count,
    read_sent_everyone_count: p.read_sent_everyone_count,
  }),
);

/** Moves a read position forward; never back, whatever the order in which two of these commit. */
export const movePosition = (
  tx: WriteTx,
  id: string,
  position: Pick<
    MemberRow,
    'read_up_to' | 'read_count' | 'read_everyone_count' | 'read_sent_count' | 'read_sent_everyone_count'
  >,
): Promise<number> => tx.run(positionStatement, { id, ...position });

/** A person's active agents on all boards. */
export const activeAgentsOfPerson = (tx: ReadTx, personId: string): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members').where({ person_id: personId, kind: 'agent', status: 'active' }).orderBy('id').select('*'),
  );

/** The non-guest who has been on a board longest. */
export const longestStanding = async (tx: ReadTx, boardId: string): Promise<MemberRow | undefined> => {
  const rows = await tx.query<MemberRow>((db) =>
    db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.board_id': boardId, 'm.kind': 'human', 'm.status': 'active' })
      .whereNot('p.server_role', 'guest')
      .orderBy(['m.joined_at', 'm.id'])
      .limit(1)
      .select('m.*'),
  );
  return rows[0];
};

/** Of these members those who were away when this number was given, and so never saw it. */
export const gapsOver = async (tx: ReadTx, memberIds: string[], seq: number): Promise<string[]> => {
  const rows = await tx.query<{ member_id: string }>((db) =>
    db('member_gaps')
      .whereIn('member_id', memberIds)
      .where('after_seq', '<', seq)
      .where('up_to_seq', '>=', seq)
      .distinct('member_id'),
  );
  return rows.map((row) => row.member_id);
};

/** The memberships, present and former, of people on boards. */
export const humansOn = (tx: ReadTx, boardIds: string[], personIds: string[]): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members').whereIn('board_id', boardIds).whereIn('person_id', personIds).where('kind', 'human').select('*'),
  );

/** Whether somebody else, a person or an agent, has or had this name on one of these boards. */
export const isNameOfOther = async (
  tx: ReadTx,
  boardIds: string[],
  name: string,
  personId: string,
): Promise<boolean> => {
  const rows = await tx.query<MemberRow>((db) => db('members').whereIn('board_id', boardIds).where('name', name));
  return rows.some((row) => row.kind === 'agent' || row.person_id !== personId);
};

export const renameMember = (tx: WriteTx, id: string, name: string): Promise<number> =>
  tx.change((db) => db('members').where('id', id).update({ name }));

/** The exceptions that a person made for active agents of theirs. */
export const midturnExceptions = (
  tx: ReadTx,
  personId: string,
): Promise<{ member_id: string; policy: MidturnPolicy }[]> =>
  tx.query((db) =>
    db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .where({ 'm.person_id': personId, 'm.kind': 'agent', 'm.status': 'active' })
      .whereNotNull('m.midturn_policy')
      .whereNot('b.lifecycle', 'deleted')
      .orderBy('m.id')
      .select({ member_id: 'm.id', policy: 'm.midturn_policy' }),
  );

export const setMidturn = (tx: WriteTx, id: string, policy: MidturnPolicy | null): Promise<number> =>
  tx.change((db) => db('members').where('id', id).update({ midturn_policy: policy }));

/** Boards that are not deleted and that a person is on, by id. */
export const boardIdsOf = async (tx: ReadTx, personId: string): Promise<string[]> => {
  const rows = await tx.query<{ id: string }>((db) =>
    db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .where({ 'm.person_id': personId, 'm.kind': 'human', 'm.status': 'active' })
      .whereNot('b.lifecycle', 'deleted')
      .orderBy('b.id')
      .select({ id: 'b.id' }),
  );
  return rows.map((row) => row.id);
};

export const setCurrentTask = (tx: WriteTx, memberId: string, taskId: string | null): Promise<number> =>
  tx.change((db) => db('members').where('id', memberId).update({ current_task_id: taskId }));

/** Nobody is on this task any more, or one member is not. */
export const clearCurrentTask = (tx: WriteTx, taskId: string, memberId?: string): Promise<number> =>
  tx.change((db) => {
    const query = db('members').where('current_task_id', taskId).update({ current_task_id: null });
    return memberId === undefined ? query : query.where('id', memberId);
  });
