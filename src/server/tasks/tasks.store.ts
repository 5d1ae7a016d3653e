/** Task rows, their helpers and the versions of their texts. */
import type { Knex } from 'knex';
import { countRows, firstRow } from '../db/query.ts';
import { insertInto, rowsBy, rowsOver, updateIn } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Selector } from './references.rules.ts';

export type TaskState = 'open' | 'in_progress' | 'done' | 'cancelled';

export type TaskRow = {
  id: string;
  board_id: string;
  number: number;
  ref: string;
  title: string;
  state: TaskState;
  owner_id: string | null;
  /** Number of the event by which the owner got it; 0: nobody owns it, or they did before this was kept. */
  owner_seq: number;
  /** When the owner or its person last changed it. */
  owner_at: number;
  opened_by: string;
  opened_at: number;
  /** Of its last event. */
  updated_at: number;
  closed_at: number | null;
  closed_note: string | null;
  /** Versions of the two texts; 0: never written. */
  about_version: number;
  stands_version: number;
};

export type TextField = 'about' | 'stands';

export type TextRow = {
  task_id: string;
  field: TextField;
  version: number;
  text: string;
  by_id: string;
  at: number;
  /** Of the event that wrote it. */
  seq: number;
};

/** Joined by when somebody began to help. */
type HelperRow = { task_id: string; member_id: string; seq: number };

export const insertTask = insertInto<TaskRow>('tasks');
export const saveTask = updateIn<TaskRow>('tasks');

/** A task of a board by how it is named. */
export const findTask = (tx: ReadTx, boardId: string, selector: Selector): Promise<TaskRow | undefined> =>
  firstRow(tx, (db) =>
    db('tasks')
      .where({ board_id: boardId, ...selector })
      .select('*'),
  );

/** The same on any board. */
export const findTaskAnywhere = (
  tx: ReadTx,
  selector: { id: string } | { ref: string },
): Promise<TaskRow | undefined> => firstRow(tx, (db) => db('tasks').where(selector).select('*'));

export async function lastNumber(tx: ReadTx, boardId: string): Promise<number> {
  const last = (db: Knex) => db('tasks').where('board_id', boardId).max({ last: 'number' });
  return (await firstRow<{ last: number | null }>(tx, last))?.last ?? 0;
}

export const tasksWithIds = rowsBy<TaskRow>('tasks', 'id');

/** Tasks of a board by their references, in capitals. */
export const tasksWithRefs = (tx: ReadTx, boardId: string, refs: string[]): Promise<TaskRow[]> =>
  refs.length === 0
    ? Promise.resolve([])
    : tx.query<TaskRow>((db) => db('tasks').where('board_id', boardId).whereIn('ref', refs).select('*'));

export const helpersOf = rowsOver<HelperRow>((db, taskIds) =>
  db('task_helpers').whereIn('task_id', taskIds).orderBy('seq').select('*'),
);

export const insertHelper = insertInto<HelperRow>('task_helpers');

export const deleteHelper = (tx: WriteTx, taskId: string, memberId: string): Promise<number> =>
  tx.change((db) => db('task_helpers').where({ task_id: taskId, member_id: memberId }).delete());

export const insertText = insertInto<TextRow>('task_texts');

/** The latest version of each text of a task that was written. */
type Texts = { [Field in TextField]?: TextRow };

/** Those of these tasks, by task. */
export async function latestTexts(tx: ReadTx, taskIds: string[]): Promise<Map<string, Texts>> {
  const rows = await tx.query<TextRow>((db) =>
    db({ x: 'task_texts' })
      .join({ t: 'tasks' }, 't.id', 'x.task_id')
      .whereIn('x.task_id', taskIds)
      .whereRaw("x.version = CASE x.field WHEN 'about' THEN t.about_version ELSE t.stands_version END")
      .select('x.*'),
  );
  const texts = new Map<string, Texts>();
  for (const row of rows) texts.set(row.task_id, { ...texts.get(row.task_id), [row.field]: row });
  return texts;
}

/** Versions of one text, newest first, below a version. */
export const textVersions = (tx: ReadTx, taskId: string, field: TextField, below: number | null, limit: number) =>
  tx.query<TextRow>((db) => {
    const query = db('task_texts')
      .where({ task_id: taskId, field })
      .orderBy('version', 'desc')
      .limit(limit)
      .select('*');
    return below === null ? query : query.where('version', '<', below);
  });

/** Open parts these members have: as owner or helper of tasks that are not closed, by task number, then member. */
export const partsOf = (tx: ReadTx, memberIds: string[]) =>
  tx.query<{ id: string; ref: string; number: number; member_id: string; as: 'owner' | 'helper' }>((db) =>
    db
      .select('*')
      .from(
        db('tasks')
          .whereIn('owner_id', memberIds)
          .whereIn('state', ['open', 'in_progress'])
          .select('id', 'ref', 'number', { member_id: 'owner_id', as: db.raw("'owner'") })
          .unionAll([
            db({ t: 'tasks' })
              .join({ h: 'task_helpers' }, 'h.task_id', 't.id')
              .whereIn('h.member_id', memberIds)
              .whereIn('t.state', ['open', 'in_progress'])
              .select('t.id', 't.ref', 't.number', 'h.member_id', { as: db.raw("'helper'") }),
          ])
          .as('parts'),
      )
      .orderBy(['number', 'member_id']),
  );

export interface TaskFilter {
  boardIds: string[];
  states: TaskState[];
  ownerIds?: string[];
  /** Owner or helper. */
  mineIds?: string[];
  blocked?: boolean;
}

/** Groups come in this order; the direction applies inside them. */
export const GROUPS: readonly TaskState[] = ['open', 'in_progress', 'done', 'cancelled'];

/** Where a page begins: after this task of a group, by the group's place among them. */
type TaskPlace = readonly [group: number, board: string, number: number];

const group = "CASE t.state WHEN 'open' THEN 0 WHEN 'in_progress' THEN 1 WHEN 'done' THEN 2 ELSE 3 END";

/** Tasks by group, board name and number. */
export const listTaskRows = (
  tx: ReadTx,
  filter: TaskFilter,
  order: 'asc' | 'desc',
  after: TaskPlace | null,
  limit: number,
): Promise<(TaskRow & { board_name: string })[]> =>
  tx.query((db) => {
    const query = matching(db, filter)
      .orderByRaw(`${group}, b.name, t.number ${order}`)
      .limit(limit)
      .select('t.*', { board_name: 'b.name' });
    if (after === null) return query;
    const [at, board, number] = after;
    const beyond = order === 'asc' ? '>' : '<';
    return query.whereRaw(`((${group}, b.name) > (?, ?) OR (${group} = ? AND b.name = ? AND t.number ${beyond} ?))`, [
      at,
      board,
      at,
      board,
      number,
    ]);
  });

function matching(db: Knex, { boardIds, states, ownerIds, mineIds, blocked }: TaskFilter): Knex.QueryBuilder {
  const query = db({ t: 'tasks' })
    .join({ b: 'boards' }, 'b.id', 't.board_id')
    .whereIn('t.board_id', boardIds)
    .whereIn('t.state', states);
  if (ownerIds) query.whereIn('t.owner_id', ownerIds);
  if (mineIds) {
    query.where((either) =>
      either
        .whereIn('t.owner_id', mineIds)
        .orWhereExists(
          db({ h: 'task_helpers' }).whereRaw('h.task_id = t.id').whereIn('h.member_id', mineIds).select(db.raw('1')),
        ),
    );
  }
  if (blocked) query.whereIn('t.state', ['open', 'in_progress']).whereExists(blockingAsks(db));
  return query;
}

const blockingAsks = (db: Knex): Knex.QueryBuilder =>
  db({ a: 'asks' }).whereRaw('a.task_id = t.id').where('a.blocking', 1).whereNull('a.answer_seq').select(db.raw('1'));

/** How many tasks these boards have in each state. */
export const countTasks = (tx: ReadTx, boardIds: string[]): Promise<{ state: TaskState; count: number }[]> =>
  tx.query((db) => db('tasks').whereIn('board_id', boardIds).groupBy('state').select('state').count({ count: '*' }));

export const countBlocked = (tx: ReadTx, boardIds: string[]): Promise<number> =>
  countRows(tx, (db) => matching(db, { boardIds, states: ['open', 'in_progress'], blocked: true }));

/** Open tasks of each of these boards. */
export const countOpenTasks = rowsOver<{ board_id: string; count: number }>((db, boardIds) =>
  db('tasks')
    .whereIn('board_id', boardIds)
    .where('state', 'open')
    .groupBy('board_id')
    .select('board_id')
    .count({ count: '*' }),
);
