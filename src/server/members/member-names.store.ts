/** Names of members: of those on a board, and names that are taken. */
import type { Knex } from 'knex';
import type { ReadTx } from '../db/tx.ts';
import { idOrder, type MemberRow } from './member.rules.ts';

async function namesOf(tx: ReadTx, build: (members: Knex.QueryBuilder) => Knex.QueryBuilder): Promise<string[]> {
  return (await tx.query<{ name: string }>((db) => build(db('members').select('name')))).map((row) => row.name);
}

type Kind = Partial<Pick<MemberRow, 'kind' | 'access'>>;

/** Names of active members of a kind in the order they first came, at most `limit`. */
export const activeNames = (tx: ReadTx, boardId: string, limit: number, kind: Kind = {}): Promise<string[]> =>
  namesOf(tx, (members) =>
    members
      .where({ board_id: boardId, status: 'active', ...kind })
      .orderByRaw(idOrder('id'))
      .limit(limit),
  );

/** The same of a board's owners. */
export const ownerNames = (tx: ReadTx, boardId: string, limit: number): Promise<string[]> =>
  activeNames(tx, boardId, limit, { kind: 'human', access: 'admin' });

/** Names that may stand in the way of `base`, `base-2` …, also where the base was cut to make room for the number. */
export const namesInTheWay = (tx: ReadTx, boardId: string, base: string): Promise<string[]> =>
  keptNames(tx, boardId, 'like', `${base.slice(0, 32)}%`);

/** Whether a newcomer to a board cannot have this name. */
export const isNameKept = async (tx: ReadTx, boardId: string, name: string): Promise<boolean> =>
  (await keptNames(tx, boardId, '=', name)).length > 0;

/** Names of everyone who is or was on a board, and the former handles of the people among them: nobody poses as them. */
const keptNames = (tx: ReadTx, boardId: string, operator: '=' | 'like', name: string): Promise<string[]> =>
  namesOf(tx, (members) =>
    members
      .where('board_id', boardId)
      .where('name', operator, name)
      .union((handles) =>
        handles
          .from({ h: 'handle_reservations' })
          .join({ m: 'members' }, 'm.person_id', 'h.person_id')
          .where({ 'm.board_id': boardId, 'm.kind': 'human' })
          .where('h.handle', operator, name)
          .select('h.handle'),
      ),
  );

/** Whether somebody else, a person or an agent, has or had this name on one of these boards. */
export async function isNameOfOther(tx: ReadTx, boardIds: string[], name: string, personId: string) {
  const rows = await tx.query<MemberRow>((db) => db('members').whereIn('board_id', boardIds).where('name', name));
  return rows.some((row) => row.kind === 'agent' || row.person_id !== personId);
}
