/** Reading files: the list, one of them, its versions and where they were cited, and which bytes a version has. */
import { leafOf } from '../../contract/ids.ts';
import type { Params } from '../../contract/types.ts';
import { onBoard, type Place } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import type { DownloadCase, ReadCase } from '../operation/usecase.ts';
import { requireTask } from '../tasks/find.steps.ts';
import { boundToken, readBoundNumber, readBoundToken } from '../text/bound-token.ts';
import { cut } from '../text/cut.ts';
import { fileView, fileViews, versionViews } from '../views/file.ts';
import { type FileRow, listFileRows, versionsBelow } from './files.store.ts';
import { requireFile, requireVersion } from './find.steps.ts';
import { postsOf } from './posts.store.ts';

/** Most versions and citations that come with a file; the rest has lists of its own. */
const WITH_FILE = 200;

export const listFiles: ReadCase<'listFiles'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params.board);
  const { board, member } = place;
  const { after, limit, task, mine, maintained } = query;
  const bound = { board: board.id, task, mine, maintained, by: mine ? member.id : null };
  const filter = {
    boardId: board.id,
    ...(task === undefined ? {} : { taskId: (await requireTask(tx, board.id, task)).id }),
    ...(mine ? { writerId: member.id } : {}),
    ...(maintained === undefined ? {} : { maintained }),
  };
  const begin = readBoundToken(bound, after, 'int32', 'number', 'string');
  const rows = await listFileRows(tx, filter, begin, limit + 1);
  const { page, next_after } = cut(rows, limit, (last) => boundToken(bound, last.maintained, last.latest_at, last.id));
  return { board: board.name, files: await fileViews(tx, place, page), next_after };
};

export const getFile: ReadCase<'getFile'>['run'] = async (tx, caller, { params }) => {
  const { place, file } = await find(tx, caller, params);
  const versions = await versionsBelow(tx, file.id, null, WITH_FILE + 1);
  const posts = await citations(tx, place, file, 0, WITH_FILE);
  return {
    ...(await fileView(tx, place, file)),
    versions: await versionViews(tx, place.reader, versions.slice(0, WITH_FILE)),
    versions_more: versions.length > WITH_FILE,
    posted_in: posts.page,
    posted_in_more: posts.next !== null,
  };
};

export const listFileVersions: ReadCase<'listFileVersions'>['run'] = async (tx, caller, { params, query }) => {
  const { place, file } = await find(tx, caller, params);
  const below = readBoundNumber(file.id, query.after, 'int32');
  const rows = await versionsBelow(tx, file.id, below, query.limit + 1);
  const { page, next_after } = cut(rows, query.limit, ({ version }) => boundToken(file.id, version));
  return { file_id: file.id, versions: await versionViews(tx, place.reader, page), next_after };
};

export const listFilePosts: ReadCase<'listFilePosts'>['run'] = async (tx, caller, { params, query }) => {
  const { place, file } = await find(tx, caller, params);
  const { page, next } = await citations(tx, place, file, query.after, query.limit);
  return { file_id: file.id, posted_in: page, next_after: next };
};

/** Which bytes to send, and what is said with them. */
export const downloadFile: DownloadCase<'downloadFile'>['run'] = async (tx, caller, { params }) => {
  const { place, file } = await find(tx, caller, params);
  const { version } = params;
  const row = await requireVersion(tx, file, version === 'latest' ? null : Number(version));
  return {
    digest: row.digest,
    size: row.size,
    mediaType: row.media_type,
    fileName: leafOf(file.name),
    headers: { 'X-Service-File-Id': file.id, 'X-Service-File-Version': String(row.version) },
    boardId: place.board.id,
  };
};

async function find(tx: ReadTx, caller: Parameters<typeof onBoard>[1], params: Params<'getFile'>) {
  const place = await onBoard(tx, caller, params.board);
  return { place, file: await requireFile(tx, place.board.id, params.file) };
}

/** A message may cite several versions; its citations are never parted between pages, because a page begins after a message. */
async function citations(tx: ReadTx, place: Place, file: FileRow, after: number, limit: number) {
  const rows = await postsOf(tx, file.id, place.reader, after, limit + MOST_OF_ONE);
  let end = Math.min(limit, rows.length);
  while (end < rows.length && rows[end]?.seq === rows[end - 1]?.seq) end++;
  const page = rows.slice(0, end);
  return { page, next: rows.length > end ? (page.at(-1)?.seq ?? null) : null };
}

/** One more than a message can cite. */
const MOST_OF_ONE = 9;
