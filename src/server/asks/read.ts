/** Lists of asks, answered from their own index. */
import type { Message, Query } from '../../contract/types.ts';
import { onePlace, type Place, placesOf } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { invalidField } from '../operation/refusals.rules.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { requireTask } from '../tasks/find.steps.ts';
import { readSelector } from '../tasks/references.rules.ts';
import { findTaskAnywhere } from '../tasks/tasks.store.ts';
import { boundToken, readBoundToken } from '../text/bound-token.ts';
import { cut } from '../text/cut.ts';
import { answersOn } from '../views/ask.ts';
import { messagesAt } from '../views/message.ts';
import { fitting } from '../views/window.ts';
import { type AskFilter, type AskRow, listAskRows } from './asks.store.ts';

type Asked = Query<'listAsks'>;

export const listAsks: ReadCase<'listAsks'>['run'] = async (tx, caller, { query }) => {
  const one = await onePlace(tx, caller, query.board);
  // An archived board is listed where it is named.
  const unlisted = one && query.board === undefined && one.board.lifecycle !== 'active';
  const places = unlisted ? [] : one ? [one] : await placesOf(tx, caller);
  const { after, ...bound } = query;
  const position = readBoundToken(bound, after, 'int32', 'number', 'string');
  const filter = await filterOf(tx, places, query, one);
  if (!filter) return { asks: [], next_after: null };
  const rows = await listAskRows(tx, filter, position, query.limit + 1);
  const asks = fitting(await viewsOf(tx, places, rows.slice(0, query.limit)));
  const { next_after } = cut(rows, asks.length, (last) => boundToken(bound, last.blocking, last.at, last.message_id));
  return { asks, next_after };
};

/** What is looked for; null: a task that is nowhere. @throws Refusal */
async function filterOf(tx: ReadTx, places: Place[], query: Asked, one: Place | null): Promise<AskFilter | null> {
  const task = query.task === undefined ? undefined : await taskOf(tx, places, query.task, one);
  if (task === null) return null;
  const own = places.map((place) => place.member.id);
  return {
    boardIds: places.map((place) => place.board.id),
    reader: places[0]?.reader ?? { memberId: '', readsAll: false },
    state: query.state,
    blockingFirst: query.to_me && query.state === 'open',
    ...(task === undefined ? {} : { taskId: task }),
    ...(query.to_me ? { toIds: own } : {}),
    ...(query.from_me ? { fromIds: own } : {}),
    ...(query.can_answer ? { answererIds: places.filter(answersOn).map((place) => place.member.id) } : {}),
  };
}

/** @throws Refusal `task_not_found` on one board; `invalid_request` for a number that could be of any board. */
async function taskOf(tx: ReadTx, places: Place[], selector: string, one: Place | null): Promise<string | null> {
  if (one) return (await requireTask(tx, one.board.id, selector)).id;
  const read = readSelector(selector);
  if ('number' in read) {
    const hint = 'Use the whole reference, such as CHK-17, or say which board.';
    throw invalidField('task', 'a number alone needs board', hint);
  }
  const task = await findTaskAnywhere(tx, read);
  return task && places.some((place) => place.board.id === task.board_id) ? task.id : null;
}

async function viewsOf(tx: ReadTx, places: Place[], rows: readonly AskRow[]): Promise<Message[]> {
  const views = new Map<string, Message>();
  for (const [boardId, group] of Map.groupBy(rows, (row) => row.board_id)) {
    const place = places.find(({ board }) => board.id === boardId);
    if (!place) continue;
    const seqs = group.map((row) => row.seq);
    for (const view of await messagesAt(tx, place, seqs)) views.set(view.id, view);
  }
  return rows.flatMap((row) => views.get(row.message_id) ?? []);
}
