/** Reading a board's record. */
import { onBoard } from '../access/board-access.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { audiencesOf, eventView, isWithheld } from '../views/event.ts';
import { pageOf } from '../views/window.ts';
import { eventsIn } from './events.store.ts';

export const listEvents: ReadCase<'listEvents'>['run'] = async (tx, caller, { params, query }) => {
  const { board, policy, reader } = await onBoard(tx, caller, params.board);
  const list = { boardId: board.id, types: query.type };
  const page = await pageOf(
    {
      rows: (within, order, limit) => eventsIn(tx, { ...list, ...within }, order, limit),
      any: async (within) => (await eventsIn(tx, { ...list, ...within }, 'asc', 1)).length > 0,
      async view(rows) {
        const audiences = await audiencesOf(tx, policy, rows);
        return rows.map((row) => eventView(row, isWithheld(row, reader, policy, audiences)));
      },
      seq: (event) => event.seq,
      weight: (row) => row.data.length,
    },
    { after: query.after, before: query.before ?? null, limit: query.limit, newest: query.newest },
  );
  return {
    board: board.name,
    events: page.items,
    head_seq: board.head_seq,
    next_after: page.next_after,
    prev_before: page.prev_before,
  };
};
