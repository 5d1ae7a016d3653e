/** File rows: what a file is called, what it is for, and its versions. The bytes lie elsewhere. */
import type { Knex } from 'knex';
import { countRows, firstRow } from '../db/query.ts';
import { insertInto, rowsBy, rowsOver, updateIn, writeInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type FileRow = {
  id: string;
  board_id: string;
  name: string;
  maintained: number;
  /** 1: the board's brief, as long as it is live. */
  brief: number;
  removed_at: number | null;
  /** Number and time of the latest version. */
  latest: number;
  latest_at: number;
};

export type VersionRow = {
  file_id: string;
  version: number;
  digest: string;
  size: number;
  media_type: string;
  by_id: string;
  at: number;
  seq: number;
  base: number;
  /** The board's running counts when it was written: messages, tasks done, answers. */
  nth_message: number;
  nth_done: number;
  nth_answer: number;
};

export type ApprovalRow = {
  file_id: string;
  person_id: string;
  member_id: string;
  version: number;
  digest: string;
  at: number;
  seq: number;
};

export const insertFile = insertInto<FileRow>('files');

const updateFile = updateIn<FileRow>('files');

/** Changes columns of a file, and the row at hand with them. */
export async function changeFile(tx: WriteTx, file: FileRow, columns: Partial<FileRow>): Promise<void> {
  await updateFile(tx, file.id, columns);
  Object.assign(file, columns);
}

/** A live file by its path. */
export const liveByName = (tx: ReadTx, boardId: string, name: string): Promise<FileRow | undefined> =>
  firstRow(tx, (db) => db('files').where({ board_id: boardId, name }).whereNull('removed_at').select('*'));

/** A file by its id, removed or not. */
export const fileById = (tx: ReadTx, boardId: string, id: string): Promise<FileRow | undefined> =>
  firstRow(tx, (db) => db('files').where({ board_id: boardId, id }).select('*'));

/** Files by their ids, removed or not. */
export const filesWithIds = rowsBy<FileRow>('files', 'id');

export const liveBrief = async (tx: ReadTx, boardId: string): Promise<FileRow | undefined> =>
  (await briefsOf(tx, [boardId]))[0];

export const briefsOf = rowsOver<FileRow>((db, boardIds) =>
  db('files').whereIn('board_id', boardIds).where('brief', 1).whereNull('removed_at').select('*'),
);

export const countLive = (tx: ReadTx, boardId: string): Promise<number> =>
  countRows(tx, (db) => db('files').where('board_id', boardId).whereNull('removed_at'));

/** Where a page of the list begins: maintained files first, then the newest version first, then by id. */
type FilePlace = readonly [maintained: number, latest_at: number, id: string];

interface FileFilter {
  boardId: string;
  taskId?: string;
  /** Files with a version by this member. */
  writerId?: string;
  maintained?: boolean;
}

export const listFileRows = (
  tx: ReadTx,
  { boardId, taskId, writerId, maintained }: FileFilter,
  after: FilePlace | null,
  limit: number,
): Promise<FileRow[]> =>
  tx.query<FileRow>((db) => {
    const query = db('files').where('board_id', boardId).whereNull('removed_at');
    if (taskId !== undefined) query.whereIn('id', db('file_tasks').where('task_id', taskId).select('file_id'));
    if (writerId !== undefined) query.whereIn('id', db('file_versions').where('by_id', writerId).select('file_id'));
    if (maintained !== undefined) query.where('maintained', maintained ? 1 : 0);
    if (after) query.where((beyond) => fromPlace(beyond, after));
    return query
      .orderBy([{ column: 'maintained', order: 'desc' }, { column: 'latest_at', order: 'desc' }, { column: 'id' }])
      .limit(limit)
      .select('*');
  });

function fromPlace(query: Knex.QueryBuilder, [maintained, latest_at, id]: FilePlace): void {
  query
    .whereRaw('(maintained, latest_at) < (?, ?)', [maintained, latest_at])
    .orWhere((same) => same.where({ maintained, latest_at }).where('id', '>', id));
}

export const insertVersion = insertInto<VersionRow>('file_versions');

export const versionOf = (tx: ReadTx, fileId: string, version: number): Promise<VersionRow | undefined> =>
  firstRow(tx, (db) => db('file_versions').where({ file_id: fileId, version }).select('*'));

/** Versions below a number, newest first. */
export const versionsBelow = (tx: ReadTx, fileId: string, below: number | null, limit: number): Promise<VersionRow[]> =>
  tx.query<VersionRow>((db) => {
    const query = db('file_versions').where('file_id', fileId).orderBy('version', 'desc').limit(limit).select('*');
    return below === null ? query : query.where('version', '<', below);
  });

/** The latest version of each of these files. */
export const latestVersions = rowsOver<VersionRow>((db, fileIds) =>
  db({ v: 'file_versions' })
    .join({ f: 'files' }, (on) => on.on('f.id', 'v.file_id').andOn('f.latest', 'v.version'))
    .whereIn('v.file_id', fileIds)
    .select('v.*'),
);

/** What files are for, in the order in which it was said. */
export const tasksOfFiles = rowsOver<{ file_id: string; id: string; ref: string; title: string }>((db, fileIds) =>
  db({ ft: 'file_tasks' })
    .join({ t: 'tasks' }, 't.id', 'ft.task_id')
    .whereIn('ft.file_id', fileIds)
    .orderBy('ft.n')
    .select('ft.file_id', 't.id', 't.ref', 't.title'),
);

export const setFileTasks = async (tx: WriteTx, fileId: string, taskIds: readonly string[]): Promise<void> => {
  await tx.change((db) => db('file_tasks').where('file_id', fileId).delete());
  if (taskIds.length === 0) return;
  const rows = taskIds.map((task_id, n) => ({ file_id: fileId, task_id, n }));
  await tx.change((db) => db('file_tasks').insert(rows));
};

/** Approvals of files, newest first. */
export const approvalsOf = rowsOver<ApprovalRow>((db, fileIds) =>
  db('file_approvals').whereIn('file_id', fileIds).orderBy('seq', 'desc').orderBy('person_id').select('*'),
);

/** One for each person and file: another version takes the place of the one before. */
export const saveApproval = writeInto<ApprovalRow>('file_approvals', ['file_id', 'person_id']);

export const removeApproval = (tx: WriteTx, fileId: string, personId: string): Promise<number> =>
  tx.change((db) => db('file_approvals').where({ file_id: fileId, person_id: personId }).delete());
