/** What writing a file appends, and why it is refused. */
import { Refusal } from '../../contract/errors.ts';
import type { Actor, EventActor } from '../../contract/types.ts';
import type { BoardRow } from '../boards/boards.store.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { MemberRow } from '../members/members.store.ts';
import { append } from '../record/append.steps.ts';
import { newId } from '../text/ids.ts';
import { timestamp } from '../text/time.ts';
import type { Decision } from './base-version.rules.ts';
import { type FileRow, fileById, insertFile, insertVersion, saveFile, setFileTasks, versionOf } from './files.store.ts';

export interface Writing {
  tx: WriteTx;
  /** Held by this transaction. */
  board: BoardRow;
  member: MemberRow;
  actor: EventActor;
}

/** What a new version holds. */
interface NewVersion {
  digest: string;
  size: number;
  mediaType: string;
  maintained: boolean;
  taskIds: readonly string[];
}

/** Adds a file with its first version. */
export async function addFile(writing: Writing, name: string, brief: boolean, version: NewVersion): Promise<FileRow> {
  const { tx, board } = writing;
  const file: FileRow = {
    id: newId('fil', tx.now),
    board_id: board.id,
    name,
    maintained: version.maintained ? 1 : 0,
    brief: brief ? 1 : 0,
    removed_at: null,
    latest: 0,
    latest_at: 0,
  };
  await appendVersion(writing, file, version);
  await insertFile(tx, file);
  if (version.taskIds.length > 0) await setFileTasks(tx, file.id, version.taskIds);
  return file;
}

/** Adds a version to a file. */
export async function addVersion(writing: Writing, file: FileRow, version: NewVersion): Promise<void> {
  const { tx } = writing;
  file.maintained = version.maintained ? 1 : 0;
  await appendVersion(writing, file, version);
  const { maintained, latest, latest_at } = file;
  await saveFile(tx, file.id, { maintained, latest, latest_at });
  await setFileTasks(tx, file.id, version.taskIds);
}

async function appendVersion({ tx, board, member, actor }: Writing, file: FileRow, version: NewVersion): Promise<void> {
  const base = file.latest;
  const { digest, size, mediaType } = version;
  const { seq, at } = await append(tx, board, {
    type: 'file.version_added',
    actor,
    data: {
      about: [...version.taskIds],
      base_version: base,
      digest,
      file_id: file.id,
      maintained: version.maintained,
      media_type: mediaType,
      name: file.name,
      size,
      version: base + 1,
    },
  });
  file.latest = base + 1;
  file.latest_at = at;
  await insertVersion(tx, {
    file_id: file.id,
    version: file.latest,
    digest,
    size,
    media_type: mediaType,
    by_id: member.id,
    at,
    seq,
    base,
    nth_message: board.message_count,
    nth_done: board.done_count,
    nth_answer: board.answer_count,
  });
}

/** Takes a file off its board: its path is free at once. */
export async function takeOff({ tx, board, actor }: Writing, file: FileRow): Promise<void> {
  const { at } = await append(tx, board, {
    type: 'file.removed',
    actor,
    data: { file_id: file.id, name: file.name },
  });
  file.removed_at = at;
  await saveFile(tx, file.id, { removed_at: at });
}

/** Resolves a member id to the name shown in a refusal. */
type NameActor = (memberId: string) => Promise<Actor>;

type Refused = Extract<Decision, { do: 'refuse' }>;

/** The refusal with what is there now, so that the writer can tell what came in between. */
export async function refusalOf(
  tx: ReadTx,
  boardId: string,
  { code, now }: Refused,
  { name, file_id }: { name: string; file_id?: string | undefined },
  nameActor: NameActor,
): Promise<Refusal> {
  // Nothing at the path: what the writer held may be there no longer, or under another name.
  const meant = now?.id ?? file_id;
  const file = meant === undefined ? undefined : await fileById(tx, boardId, meant);
  const latest = file && (await versionOf(tx, file.id, file.latest));
  const { message, hint } = words[code]({ name, file, brief: file?.brief === 1 });
  return new Refusal(code, message, {
    hint,
    details:
      file && latest
        ? {
            version: file.latest,
            by: await nameActor(latest.by_id),
            at: timestamp(latest.at),
            file_id: file.id,
            name: file.name,
            ...(file.removed_at === null ? {} : { removed: true }),
          }
        : { version: 0, by: null, at: null, file_id: null, name: null },
  });
}

interface Named {
  name: string;
  file: FileRow | undefined;
  brief: boolean;
}

const now = ({ name, file }: Named): string => {
  if (!file) return `There is no ${name} on this board`;
  return file.removed_at === null ? `${file.name} is at version ${file.latest} now` : `${file.name} was removed`;
};

const words: Record<Refused['code'], (named: Named) => { message: string; hint: string }> = {
  file_exists: ({ name, file }) => ({
    message: `${name} is there already, at version ${file?.latest}.`,
    hint: `Get it, change it, put it: service file get ${name}. Or use another name.`,
  }),
  file_changed: (named) => ({
    message: `${now(named)}, so nothing was stored.`,
    hint: named.brief
      ? 'Read it, put your change in again: service brief get, then service brief put.'
      : `Read what is there, put your change in again: service file get ${named.name}, then service file put.`,
  }),
  brief_exists: ({ file }) => ({
    message: `This board has its brief as ${file?.name}.`,
    hint: 'Replace the format with --replace-format, or take it away first: service file remove or service file rename.',
  }),
  brief_path_reserved: ({ name }) => ({
    message: `${name} is the place of the board's brief.`,
    hint: 'Write it with service brief get and service brief put, or use another path such as notes/brief.md.',
  }),
};
