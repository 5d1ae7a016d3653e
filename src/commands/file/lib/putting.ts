/** `file put` and `brief put`: chooses the version to replace and handles conflicts. */
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import type { z } from 'zod';
import { EXIT } from '../../../cli/errors.ts';
import type { Output } from '../../../cli/output.ts';
import { called } from '../../../cli/runtime.ts';
import { staying } from '../../../cli/session/open-session.ts';
import { showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { Reply } from '../../../client/answer.ts';
import { ClientError } from '../../../client/errors.ts';
import { isBriefPath, leafOf } from '../../../contract/ids.ts';
import { shellArgument } from '../../../contract/text.ts';
import type { Actor, BoardFile } from '../../../contract/types.ts';
import { Failure } from '../../../local/failure.ts';
import { draftOf, writeNew } from '../../../local/private-file.ts';
import { placeOf, readBytes } from './get.ts';
import { hasMarks, merge } from './merge.ts';
import { type Local, localFile, type PutQuery, putFile } from './put.ts';
import { type Files, fileCalled, note } from './scope.ts';
import type { putFile as putRecord } from './shapes.ts';

const REPLACES = 3;

export interface Putting {
  files: Files;
  local: Local;
  query: PutQuery;
  /** Where the bytes lie for the person; null: they were piped in. */
  path: string | null;
  onConflict: 'fail' | 'merge' | 'replace';
  /** What is typed to do it again, such as `service file put api.md`. */
  command: string;
  key: string | undefined;
  times: TimeStyle;
  out: Output;
}

export interface Put {
  reply: Reply<BoardFile>;
  /** The version that is replaced; 0: there was none. */
  replaces: number;
}

/** Puts a file onto the board, and notes what lies where. @throws Failure with the command that goes on. */
export async function put(putting: Putting): Promise<Put> {
  const { path, local, command, out } = putting;
  const marked = path !== null && local.size < 1_048_576 && hasMarks(readFileSync(path));
  const done = await (putting.onConflict === 'replace' ? replacing(putting) : first(putting));
  const { name, latest } = done.reply.data;
  if (marked)
    out.warn(
      'conflict_marked',
      `${name} v${latest.version} still has a conflict marked with <<<<<<<.`,
      `resolve it, then ${command}`,
    );
  await noteLatest(putting, done.reply.data);
  return done;
}

/** Notes that what lies here is the latest version. */
async function noteLatest(
  { files, path }: Putting,
  { id, name, latest: { version, digest } }: BoardFile,
): Promise<void> {
  if (path !== null) await note(files, path, { file_id: id, name, version, digest });
}

/**
 * The same, unless what lies here is what was got, or what is to be replaced: then nothing is sent. So a repeat under the
 * same key, which would replace its own first run, changes nothing either. @param known the digest that was noted.
 */
export async function putIfChanged(
  putting: Putting,
  known: string | null,
): Promise<{ record: z.input<typeof putRecord>; reply: Reply<BoardFile> | null }> {
  const { files, local, query, onConflict, command, out } = putting;
  if (known === local.digest && onConflict !== 'replace') {
    const params = { board: files.session.board, file: query.file_id ?? query.name };
    const { data: file } = await files.session.client.call('getFile', { params });
    const version = query.base ?? file.latest.version;
    if (file.removed_at === null && (!query.brief || isBriefPath(file.name))) {
      const { version: there } = file.latest;
      if (there > version)
        out.warn('newer_on_board', `The board is at v${there}.`, `To put v${version} back: ${command} --base ${there}`);
      return { record: { file, version, replaces: version, changed: false }, reply: null };
    }
  }
  if (onConflict === 'replace') {
    const file = await fileCalled(files, query.name);
    const { version = 0, digest } = file?.latest ?? {};
    if (file && digest === local.digest && isTagged(file, query)) {
      await noteLatest(putting, file);
      return { record: { file, version, replaces: version, changed: false }, reply: null };
    }
  }
  const { reply, replaces } = await put(putting);
  const file = reply.data;
  return { record: { file, version: file.latest.version, replaces, changed: true }, reply };
}

/** Whether a file has the type and tags that a put gives it; what is left out stays as it is. */
function isTagged({ about, maintained, latest }: BoardFile, query: PutQuery): boolean {
  const isAbout = (task: string) =>
    about.some(({ id, ref }) => id === task || [ref, ref.split('-')[1]].includes(task.toUpperCase()));
  return (
    (query.maintained ?? maintained) === maintained &&
    (query.media_type ?? latest.media_type) === latest.media_type &&
    (query.about === undefined || (query.about.length === about.length && query.about.every(isAbout)))
  );
}

async function first(putting: Putting): Promise<Put> {
  const { files, local, query, out, key } = putting;
  try {
    return { reply: await putFile(files, local, query, { out, key }), replaces: query.base ?? 0 };
  } catch (error) {
    if (!isConflict(error)) throw error;
    if (putting.onConflict === 'merge' && mergeable(putting, error)) return merging(putting, error);
    throw conflict(error, putting);
  }
}

/** Whether what was to be replaced is there no longer, and nothing is in its place. Under another name a brief is one no longer. */
export const isGone = ({ brief }: Partial<PutQuery>, details: Details): boolean => {
  const { file_id, name, removed } = details as There;
  return file_id === null || removed === true || (brief === true && !isBriefPath(name ?? ''));
};

/** How a put goes on after that. */
export const asNew = (command: string): string => `To put it there as new: ${command} --base 0`;

/** Whether what is there is a later version of what was to be replaced, so that both can be put together. */
export const isLater = (query: Partial<PutQuery>, details: Details): boolean => {
  const { file_id, version } = details as There;
  const { base = 0 } = query;
  return base > 0 && base < version && [undefined, file_id].includes(query.file_id) && !isGone(query, details);
};

const mergeable = ({ path, query }: Putting, { code, details }: ClientError): boolean =>
  code === 'file_changed' && path !== null && isLater(query, details);

/** Puts what both wrote over the latest version; where both changed the same, the person decides. */
async function merging(putting: Putting, error: ClientError): Promise<Put> {
  const { files, query, out, key, command } = putting;
  const path = putting.path as string;
  const { version, name, file_id } = thereOf(error);
  const file = file_id as string;
  const base = query.base as number;
  const theirs = await readBytes(files, { file, version }, out);
  const began = await readBytes(files, { file, version: base }, out);
  const merged = merge({
    base: began.bytes,
    theirs: theirs.bytes,
    ours: readFileSync(path),
    labels: { base: `v${base}`, theirs: `v${version}` },
  });
  if (!merged) {
    const beside = `${path}.theirs-v${version}`;
    replaceFile(beside, theirs.bytes);
    throw new Failure(
      'merge_unavailable',
      `There is no git on this machine to merge with; v${version} is now ${beside}.`,
      {
        hint: called(
          `Put both together, then: service file put ${shellArgument(path)} --base ${version}${staying(files.session)}`,
        ),
        exit: EXIT.conflict,
      },
    );
  }
  replaceFile(path, merged.bytes);
  await note(files, path, { file_id: file, name: name ?? query.name, version, digest: theirs.got.digest });
  if (merged.conflicts > 0) {
    const count = merged.conflicts === 1 ? '1 conflict' : `${merged.conflicts} conflicts`;
    throw new Failure('merge_conflict', `${count} with v${version} in ${path}, marked with <<<<<<<.`, {
      hint: called(`resolve it, then ${command}`),
      details: { path, conflicts: merged.conflicts, version },
    });
  }
  return first({
    ...putting,
    local: await localFile(path),
    query: { ...query, name: name ?? query.name, base: version, file_id: file },
    key: key === undefined ? undefined : `${key}.merge-${version}`,
  });
}

/** Takes the version that is there now, read just before; a few times if others keep writing. */
async function replacing(putting: Putting): Promise<Put> {
  const { files, local, query, out, key } = putting;
  for (let attempt = 1; ; attempt++) {
    const file = await fileCalled(files, query.name);
    const there = { base: file?.latest.version ?? 0, file_id: file?.id };
    try {
      const step = key === undefined || attempt === 1 ? key : `${key}.${attempt}`;
      const reply = await putFile(files, local, { ...query, ...there }, { out, key: step });
      return { reply, replaces: there.base };
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt === REPLACES) throw conflict(error, { ...putting, query: { ...query, ...there } });
    }
  }
}

/** @throws whatever keeps it from being written; then the file is as it was. */
function replaceFile(path: string, bytes: Buffer): void {
  const { target, mode } = placeOf(path);
  const part = draftOf(target);
  try {
    writeNew(part, bytes, mode ?? 0o666);
    // Creating it gave it no more rights than a new file gets.
    if (mode !== undefined) chmodSync(part, mode);
    renameSync(part, target);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** What is there instead of what a write was to replace. */
type There = {
  version: number;
  by: Actor | null;
  at: string | null;
  file_id: string | null;
  name: string | null;
  removed?: boolean;
};

const isConflict = (error: unknown): error is ClientError =>
  error instanceof ClientError && ['file_changed', 'file_exists', 'brief_exists'].includes(error.code);

type Details = ClientError['details'];

const thereOf = (error: ClientError): There => error.details as There;

function conflict(error: ClientError, putting: Putting): Failure {
  const { query, command, times, path, files } = putting;
  const { name, base = 0 } = query;
  const stay = staying(files.session);
  // There is no local file that could be merged.
  const piped = path === null;
  const there = thereOf(error);
  const since = there.by && there.at ? `, written by ${there.by.name} ${showTime(there.at, times)}` : '';
  const another = [undefined, there.file_id].includes(query.file_id) ? '' : ' of one that is gone';
  const yours = base > 0 ? `you replaced v${base}${another}` : 'you have no version of it';
  const { code, details = {} } = error;
  const failure = (message: string, hint: string) => new Failure(code, message, { hint: called(hint), details });
  if (code === 'brief_exists')
    return failure(
      `The brief is ${there.name} v${there.version}${since}.`,
      `${command} --replace-format; or first: service file remove ${there.name}${stay}, or service file rename ${there.name} NEW${stay}`,
    );
  if (isGone(query, details)) {
    const now = there.removed ? `${there.name} was removed at` : `${name} is ${there.name} now, at`;
    const gone = there.file_id === null ? `${name} is not on the board` : `${now} v${there.version}${since}`;
    return failure(`${gone}; ${yours}.`, asNew(command));
  }
  const moved = there.name !== null && there.name !== name ? ` (as ${there.name})` : '';
  const message = `${name}${moved} is at v${there.version}${since}; ${yours}.`;
  // A version that was named and not got is not noted here.
  const from = query.file_id === undefined ? ` --base ${base}` : '';
  if (mergeable(putting, error)) return failure(message, `${command}${from} --merge`);
  const get = query.brief ? 'service brief get' : `service file get ${there.name ?? name}`;
  // Over what is here it would not be got.
  const to = (base > 0 && !piped) || existsSync(leafOf(there.name ?? name)) ? ' OTHER' : '';
  const other = piped ? `, or take its place: ${command} --replace` : '';
  return failure(message, `Get it, put your change into it: ${get}${to}${stay}${other}`);
}
