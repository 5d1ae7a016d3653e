/** Reading tasks. */
import type { Query } from '../../contract/types.ts';
import { requireMembers } from '../access/authority.ts';
import { onBoard, onePlace, type Place, placesOf } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { membersById } from '../members/members.store.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { boundToken, readBoundNumber, readBoundToken } from '../text/bound-token.ts';
import { cut } from '../text/cut.ts';
import { actorView } from '../views/actors.ts';
import { taskView, taskViews, textOf } from '../views/tasks/task.ts';
import { requireTask } from './find.steps.ts';
import {
  countBlocked,
  countTasks,
  GROUPS,
  listTaskRows,
  type TaskFilter,
  type TaskRow,
  type TaskState,
  textVersions,
} from './tasks.store.ts';

type Asked = Query<'listTasks'> | Query<'listAllTasks'>;

export const listTasks: ReadCase<'listTasks'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params.board);
  return { board: place.board.name, ...(await listOf(tx, [place], query, place)) };
};

export const listAllTasks: ReadCase<'listAllTasks'>['run'] = async (tx, caller, { query }) => {
  const place = await onePlace(tx, caller, query.board);
  return listOf(tx, place ? [place] : await placesOf(tx, caller), query, place);
};

async function listOf(tx: ReadTx, places: Place[], query: Asked, one: Place | null) {
  const boardIds = places.map((place) => place.board.id);
  const { after, ...asked } = query;
  const bound = [one?.board.id, asked];
  const begin = readBoundToken(bound, after, 'int32', 'string', 'number');
  const filter = await filterOf(tx, places, query);
  const rows = await listTaskRows(tx, filter, query.order, begin, query.limit + 1);
  const { page, next_after } = cut(rows, query.limit, ({ state, board_name, number }) =>
    boundToken(bound, GROUPS.indexOf(state), board_name, number),
  );
  const counts = Object.fromEntries(GROUPS.map((state) => [state, 0])) as Record<TaskState, number>;
  for (const { state, count } of await countTasks(tx, boardIds)) counts[state] = Number(count);
  return {
    tasks: await viewsOf(tx, places, page),
    counts: { ...counts, blocked: await countBlocked(tx, boardIds) },
    next_after,
  };
}

const states: Record<Asked['state'], TaskState[]> = {
  active: ['open', 'in_progress'],
  open: ['open'],
  in_progress: ['in_progress'],
  done: ['done'],
  cancelled: ['cancelled'],
  all: [...GROUPS],
};

/** @throws Refusal `member_not_found`. */
async function filterOf(tx: ReadTx, places: Place[], query: Asked): Promise<TaskFilter> {
  const boardIds = places.map((place) => place.board.id);
  const owners = query.owner === undefined ? undefined : await requireMembers(tx, boardIds, query.owner);
  return {
    boardIds,
    states: states[query.state],
    ownerIds: owners?.map((owner) => owner.id),
    mineIds: query.mine ? places.map((place) => place.member.id) : undefined,
    blocked: query.blocked,
  };
}

async function viewsOf(tx: ReadTx, places: Place[], rows: readonly TaskRow[]) {
  const views = new Map<string, Awaited<ReturnType<typeof taskViews>>[number]>();
  for (const [boardId, group] of Map.groupBy(rows, (row) => row.board_id)) {
    const place = places.find(({ board }) => board.id === boardId);
    if (place) for (const view of await taskViews(tx, place, group)) views.set(view.id, view);
  }
  return rows.flatMap((row) => views.get(row.id) ?? []);
}

export const getTask: ReadCase<'getTask'>['run'] = async (tx, caller, { params }) => {
  const place = await onBoard(tx, caller, params.board);
  return taskView(tx, place, await requireTask(tx, place.board.id, params.task));
};

export const listTaskTexts: ReadCase<'listTaskTexts'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params.board);
  const task = await requireTask(tx, place.board.id, params.task);
  const bound = [task.id, query.field];
  const below = readBoundNumber(bound, query.after, 'int32');
  const rows = await textVersions(tx, task.id, query.field, below, query.limit + 1);
  const { page, next_after } = cut(rows, query.limit, ({ version }) => boundToken(bound, version));
  const byIds = page.map((row) => row.by_id);
  const authors = await membersById(tx, byIds);
  return {
    task: { id: task.id, ref: task.ref, title: task.title },
    field: query.field,
    versions: page.flatMap((row) => {
      const by = authors.get(row.by_id);
      return by ? [textOf(row, () => actorView(by, place.reader))] : [];
    }),
    next_after,
  };
};
