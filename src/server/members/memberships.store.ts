/** People's memberships: which boards a person is on, with which agents, and who has been on a board longest. */
import { lifecycles } from '../../contract/values.ts';
import { firstRow, idsOf } from '../db/query.ts';
import { listStatement, type Pair, type Params, statement } from '../db/statement.ts';
import type { ReadTx } from '../db/tx.ts';
import type { MemberRow } from './member.rules.ts';

const humansStatement = listStatement<Params, MemberRow, Pair>((db, _p, pairs) =>
  db('members')
    .where({ kind: 'human', status: 'active' })
    .where((those) => {
      for (const [board_id, person_id] of pairs) those.orWhere({ board_id, person_id });
    })
    .select('*'),
);

/** A person's own active membership of a board. */
export const activeHuman = (tx: ReadTx, boardId: string, personId: string): Promise<MemberRow | undefined> =>
  tx.one(humansStatement, ['board_id', 'person_id'], [boardId, personId]);

/** What the person of an active agent is called on its board. */
export async function nameOfPerson(tx: ReadTx, agent: Pick<MemberRow, 'board_id' | 'person_id'>): Promise<string> {
  const person = await activeHuman(tx, agent.board_id, agent.person_id);
  if (!person) throw new Error(`the person of an agent is not on board ${agent.board_id}`);
  return person.name;
}

const humanOfStatement = statement<{ board_id: string; person_id: string }, MemberRow>((db, p) =>
  db('members').where({ board_id: p.board_id, person_id: p.person_id, kind: 'human' }).select('*'),
);

/** A person's own membership of a board, also a former one. */
export const humanOf = (tx: ReadTx, boardId: string, personId: string): Promise<MemberRow | undefined> =>
  tx.first(humanOfStatement, { board_id: boardId, person_id: personId });

/** A person's active memberships of these boards. */
export const ownMemberships = (tx: ReadTx, personId: string, boardIds: string[]): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members')
      .where({ person_id: personId, kind: 'human', status: 'active' })
      .whereIn('board_id', boardIds)
      .select('*'),
  );

/** A person's active agents on all boards. */
export const activeAgentsOfPerson = (tx: ReadTx, personId: string): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members').where({ person_id: personId, kind: 'agent', status: 'active' }).orderBy('id').select('*'),
  );

/** The non-guest who has been on a board longest. */
export const longestStanding = (tx: ReadTx, boardId: string): Promise<MemberRow | undefined> =>
  firstRow(tx, (db) =>
    db({ m: 'members' })
      .join({ p: 'people' }, 'p.id', 'm.person_id')
      .where({ 'm.board_id': boardId, 'm.kind': 'human', 'm.status': 'active' })
      .whereNot('p.server_role', 'guest')
      .orderBy(['m.joined_at', 'm.id'])
      .limit(1)
      .select('m.*'),
  );

/** The memberships, present and former, of people on boards. */
export const humansOn = (tx: ReadTx, boardIds: string[], personIds: string[]): Promise<MemberRow[]> =>
  tx.query<MemberRow>((db) =>
    db('members').whereIn('board_id', boardIds).whereIn('person_id', personIds).where('kind', 'human').select('*'),
  );

/** Boards that are not deleted and that a person is on, by id. */
export const boardIdsOf = (tx: ReadTx, personId: string): Promise<string[]> =>
  idsOf(tx, (db) =>
    db({ m: 'members' })
      .join({ b: 'boards' }, 'b.id', 'm.board_id')
      .where({ 'm.person_id': personId, 'm.kind': 'human', 'm.status': 'active' })
      .whereIn('b.lifecycle', lifecycles)
      .orderBy('b.id')
      .select({ id: 'b.id' }),
  );
