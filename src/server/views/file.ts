/** Files, as a member reads them. */
import type { BoardFile, Brief, FileApproval, FileVersion, Freshness } from '../../contract/types.ts';
import type { Place, Reader } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import {
  type ApprovalRow,
  approvalsOf,
  type FileRow,
  latestVersions,
  tasksOfFiles,
  type VersionRow,
} from '../files/files.store.ts';
import { readableSince } from '../files/posts.store.ts';
import { membersById } from '../members/members.store.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import { timestamp, timestampOrNull } from '../text/time.ts';
import { type ActorById, actorsOf, actorView } from './actors.ts';

type Reading = Pick<Place, 'board' | 'reader'>;

/** Composes files of one board, with a fixed number of statements however many they are. */
export async function fileViews(tx: ReadTx, place: Reading, files: readonly FileRow[]): Promise<BoardFile[]> {
  if (files.length === 0) return [];
  const { board, reader } = place;
  const ids = idsIn(files);
  const versions = indexBy(await latestVersions(tx, ids), 'file_id');
  const approvals = Map.groupBy(await approvalsOf(tx, ids), (row) => row.file_id);
  const tasks = Map.groupBy(await tasksOfFiles(tx, ids), (row) => row.file_id);
  const actor = await actorsOf(tx, reader, [
    ...[...versions.values()].map((row) => row.by_id),
    ...[...approvals.values()].flat().map((row) => row.member_id),
  ]);
  const freshness = await freshnessOf(tx, place, [...versions.values()]);
  return files.map((file) => {
    const latest = versions.get(file.id);
    if (!latest) throw new Error(`file ${file.id} has lost its latest version`);
    const approved = (approvals.get(file.id) ?? []).map((row) => ({ row, view: approvalView(row, file, actor) }));
    return {
      id: file.id,
      name: file.name,
      board: board.name,
      maintained: file.maintained === 1,
      about: (tasks.get(file.id) ?? []).map(({ id, ref, title }) => ({ id, ref, title })),
      latest: versionView(latest, actor),
      approvals: approved.map(({ view }) => view),
      mine: approved.find(({ row }) => reader.kind === 'human' && row.person_id === reader.personId)?.view ?? null,
      freshness: freshness(latest),
      removed_at: timestampOrNull(file.removed_at),
    };
  });
}

export const fileView = async (tx: ReadTx, place: Reading, file: FileRow): Promise<BoardFile> =>
  (await fileViews(tx, place, [file]))[0]!;

/** Versions with their writers. */
export async function versionViews(tx: ReadTx, reader: Reader, rows: readonly VersionRow[]): Promise<FileVersion[]> {
  const writers = rows.map((row) => row.by_id);
  const actor = await actorsOf(tx, reader, writers);
  return rows.map((row) => versionView(row, actor));
}

const versionView = (row: VersionRow, actor: ActorById): FileVersion => ({
  version: row.version,
  digest: row.digest,
  size: row.size,
  media_type: row.media_type,
  by: actor(row.by_id),
  at: timestamp(row.at),
  seq: row.seq,
  base: row.base,
});

const approvalView = (row: ApprovalRow, file: FileRow, actor: ActorById): FileApproval => ({
  person: actor(row.member_id),
  version: row.version,
  digest: row.digest,
  at: timestamp(row.at),
  changes_since: file.latest - row.version,
});

/**
 * What happened on the board since each of these versions: differences of running counts; only for readers who may not
 * read all are messages counted, for all versions at once.
 */
async function freshnessOf(tx: ReadTx, { board, reader }: Reading, versions: readonly VersionRow[]) {
  const ids = versions.map((row) => row.file_id);
  const counted = reader.readsAll ? null : indexBy(await readableSince(tx, board.id, ids, reader), 'file_id');
  return (row: VersionRow): Freshness => {
    const since = counted?.get(row.file_id);
    return {
      messages_since: counted ? Number(since?.messages ?? 0) : board.message_count - row.nth_message,
      tasks_done_since: board.done_count - row.nth_done,
      answers_since: counted ? Number(since?.answers ?? 0) : board.answer_count - row.nth_answer,
    };
  };
}

/** The briefs as their boards tell of them, by the id of the board; with two statements however many they are. */
export async function briefViews(tx: ReadTx, places: readonly Reading[], files: FileRow[]) {
  const found = new Map<string, Brief>();
  if (files.length === 0) return found;
  const ids = idsIn(files);
  const versions = indexBy(await latestVersions(tx, ids), 'file_id');
  const writerIds = new Set([...versions.values()].map((row) => row.by_id));
  const writers = await membersById(tx, writerIds);
  for (const file of files) {
    const place = places.find(({ board }) => board.id === file.board_id);
    const latest = versions.get(file.id);
    const writer = writers.get(latest?.by_id ?? '');
    if (!place || !latest || !writer) throw new Error(`the brief ${file.id} has lost its board, version or writer`);
    found.set(file.board_id, {
      name: file.name as Brief['name'],
      file_id: file.id,
      version: latest.version,
      by: actorView(writer, place.reader),
      at: timestamp(latest.at),
      size: latest.size,
      digest: latest.digest,
      // Only an agent may not read all, and it is on one board.
      freshness: (await freshnessOf(tx, place, [latest]))(latest),
    });
  }
  return found;
}
