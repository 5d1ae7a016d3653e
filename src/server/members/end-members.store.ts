/** Queries that end or change the seats of others: locks their rows in one order, and writes their last state. */
import type { WriteTx } from '../db/tx.ts';
import type { Selector } from '../tasks/references.rules.ts';

/** Seats to be changed, chosen before their board is locked. */
interface SeatChoice {
  /** Name or id of a board; left out: on every board. */
  board?: string;
  /**
   * The agents of a person, by id or handle; a member by name or id, who may also be the person; these seats; or those on a
   * task, if this member owns it.
   */
  of:
    | { person: string }
    | { handle: string }
    | { member: string }
    | { seats: string[] }
    | { task: Selector & { owner_id?: string } };
}

/**
 * Holds the rows of seats that are about to end, to get another token or to lose their task. A seat's own requests hold its
 * row and then wait for its board, so every write that changes seats locks them in this order; what may be changed is decided
 * later, when the board is locked. An agent's request holds its own row before: two agents that each end a task which the
 * other is on can still wait for each other, until the database ends one and it is run again.
 */
export async function lockSeats(tx: WriteTx, { board, of }: SeatChoice): Promise<void> {
  if (!tx.dialect.shared || !isPlain(board) || ('member' in of && !isPlain(of.member))) return;
  await tx.query((db) => {
    const query = db({ m: 'members' }).where({ 'm.kind': 'agent', 'm.status': 'active' });
    if (board !== undefined) {
      query.whereIn('m.board_id', db('boards').where('id', board).orWhere('name', board).select('id'));
    }
    if ('seats' in of) query.whereIn('m.id', of.seats);
    if ('task' in of) {
      query.whereExists(db('tasks').whereRaw('tasks.id = m.current_task_id').where(of.task).select(db.raw('1')));
    }
    if ('person' in of) query.where('m.person_id', of.person);
    if ('handle' in of) query.whereIn('m.person_id', db('people').where('handle', of.handle).select('id'));
    if ('member' in of) {
      query.where((either) =>
        either
          .where('m.id', of.member)
          .orWhere('m.name', of.member)
          .orWhereExists(
            db({ h: 'members' })
              .whereRaw("h.board_id = m.board_id AND h.person_id = m.person_id AND h.kind = 'human'")
              .where((named) => named.where('h.id', of.member).orWhere('h.name', of.member))
              .select(db.raw('1')),
          ),
      );
    }
    return query.orderBy('m.id').forNoKeyUpdate('m').select('m.id');
  });
}

/** What can name nothing is not looked for. */
const isPlain = (name = 'any'): boolean => /^[\w-]{1,64}$/.test(name);

/** Ends members: their names, positions and last tokens stay. */
export const setEnded = (
  tx: WriteTx,
  ids: string[],
  status: 'left' | 'removed',
  by: 'person' | 'board_owner' | 'admin' | 'self',
): Promise<number> =>
  tx.change((db) => db('members').whereIn('id', ids).update({ status, removed_at: tx.now, removed_by: by }));
