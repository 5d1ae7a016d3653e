/** Tasks whose agents are gone, for the people of those agents and the owners of their boards. */
import type { Need } from '../../../contract/types.ts';
import type { Place } from '../../access/board-access.ts';
import type { ReadTx } from '../../db/tx.ts';
import { ownedByAgents } from '../../tasks/stale.store.ts';
import { timestamp } from '../../text/time.ts';
import { staleTimes } from '../tasks/stale.ts';
import { taskRefView } from '../tasks/task-ref.ts';
import type { Needs } from './held-threads.ts';

/** @param places the boards of one person. */
export async function staleTaskNeeds(tx: ReadTx, places: readonly Place[]): Promise<Needs> {
  const on = new Map(places.map((place) => [place.board.id, place]));
  const owned = await ownedByAgents(tx, { boardIds: [...on.keys()] });
  const rows = owned.filter(({ board_id, person_id }) => {
    const member = on.get(board_id)?.member;
    return member?.access === 'admin' || member?.person_id === person_id;
  });
  const times = await staleTimes(tx, rows, (boardId) => on.get(boardId)?.policy.stale_after ?? 'off');
  const needs: Need[] = [];
  for (const row of rows) {
    const at = times.get(row.id);
    const board = on.get(row.board_id)?.board;
    if (at === undefined || at > tx.now || !board) continue;
    needs.push({
      kind: 'task_stale',
      id: row.id,
      at: timestamp(at),
      board: board.name,
      board_id: board.id,
      text: `${row.owner_name} is gone and has ${row.ref} in progress: "${row.title}"`,
      task: taskRefView(row),
      agent: row.owner_name,
      member_id: row.owner_id,
    });
  }
  return { needs, changes: [...times.values()].filter((at) => at > tx.now) };
}
