/** Downloads a file: into a temporary file first, verified, then moved into place. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, realpathSync, rmSync, statSync } from 'node:fs';
import { chmod, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { diskReasons } from '../../../cli/errors.ts';
import { flushed, type Output } from '../../../cli/output.ts';
import { called } from '../../../cli/runtime.ts';
import { staying } from '../../../cli/session/open-session.ts';
import { undoAtExit } from '../../../cli/signals.ts';
import { sizeText } from '../../../cli/terminal/fields.ts';
import { progressOf } from '../../../cli/terminal/progress.ts';
import { showData } from '../../../cli/terminal/terminal.ts';
import { type Downloaded, download, type Sink } from '../../../client/download.ts';
import { shellArgument } from '../../../contract/text.ts';
import { Failure } from '../../../local/failure.ts';
import { draftOf } from '../../../local/private-file.ts';
import { isBinary } from './merge.ts';
import { localName } from './names.ts';
import { type Files, note, notedAt } from './scope.ts';

interface WantedFile {
  /** Path on the board or id. */
  file: string;
  version: number | 'latest';
  /** Path on the board, where the id was given. */
  name?: string;
}

/**
 * Gets a version into a file, or to standard output for `-`; null: it was printed, and there is nothing to tell of it.
 * @param path where it goes; left out: its own name. @param put the command that puts it back
 */
export async function getTo(
  files: Files,
  wanted: WantedFile & { name: string },
  { path = localName(wanted.name), force, put }: { path: string | undefined; force: boolean; put: string },
  out: Output,
) {
  if (path === '-') {
    await printFile(files, wanted, out);
    return null;
  }
  const { name } = wanted;
  const { version, digest, size, mediaType, fileId } = await getFile(files, wanted, path, force, out);
  const shown = path.includes('/') ? path : `./${path}`;
  const back = `${put} ${shellArgument(path)}${staying(files.session)}`;
  return {
    record: { name, version, digest, size, media_type: mediaType, path, file_id: fileId },
    text: () => called(`${name} v${version} (${sizeText(size)}) is now ${shown}. To save your changes: ${back}`),
  };
}

/** Writes a version to a path and notes what lies there now. */
export async function getFile(
  files: Files,
  wanted: WantedFile & { name: string },
  path: string,
  force: boolean,
  out: Output,
): Promise<Downloaded> {
  await requireOurs(files, path, force);
  const { target, mode } = placeOf(path);
  const part = draftOf(target);
  // It is appended to, so that what comes after a restart begins at its beginning.
  const file = await open(part, 'ax', mode).catch((error: unknown) => {
    throw unwritable(error, path);
  });
  const whole = undoAtExit(() => rmSync(part, { force: true }));
  let got: Downloaded;
  try {
    got = await checked(files, wanted, toFile(file), out).finally(() => file.close());
    // Opening it gave it no more rights than a new file gets.
    if (mode !== undefined) await chmod(part, mode);
    // It may have been changed meanwhile.
    await requireOurs(files, path, force);
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw unwritable(error, path);
  } finally {
    whole();
  }
  await note(files, path, { file_id: got.fileId, name: wanted.name, version: got.version, digest: got.digest });
  return got;
}

/** Where a file really is, through links, which stay; and the rights it has, if it is there. */
export function placeOf(path: string): { target: string; mode?: number } {
  const there = statSync(path, { throwIfNoEntry: false });
  return there ? { target: realpathSync(path), mode: there.mode & 0o777 } : { target: path };
}

const reasons: Record<string, string> = {
  ENOENT: 'its folder is not there',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'it is a folder',
  ENOTEMPTY: 'it is a folder',
};

/** Why a file cannot be kept where it was to go. */
export function unwritable(error: unknown, path: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = reasons[code] ?? diskReasons[code]?.[0];
  if (reason === undefined || error instanceof Failure) return error;
  return new Failure('folder_unwritable', `${path} cannot be written: ${reason}. What was there is as it was.`, {
    hint: 'Name another path, or - for standard output',
    details: { path },
  });
}

/** The bytes of a version, which have to be few. */
export async function readBytes(
  files: Files,
  wanted: WantedFile,
  out: Output,
): Promise<{ got: Downloaded; bytes: Buffer }> {
  let chunks: Uint8Array[] = [];
  const sink: Sink = {
    write: (chunk) => void chunks.push(chunk),
    restart() {
      chunks = [];
    },
  };
  const got = await checked(files, wanted, sink, out);
  return { got, bytes: Buffer.concat(chunks) };
}

/** Sends a version to standard output. A terminal gets text only, with nothing in it that acts on it. */
async function printFile(files: Files, wanted: WantedFile, out: Output): Promise<void> {
  const { bytes } = await readBytes(files, wanted, out);
  const { file, version } = wanted;
  const named = version === 'latest' ? file : `${file}@${version}`;
  if (process.stdout.isTTY && isBinary(bytes))
    throw new Failure('binary_to_terminal', 'These bytes are no text, and a terminal would act on them.', {
      hint: called(`Send them elsewhere: service file get ${shellArgument(named)} -${staying(files.session)} > file`),
    });
  // It goes there as it goes into a file, whatever else is not to be printed.
  showData(bytes);
  await flushed();
}

async function checked(
  files: Files,
  { file, name, version }: WantedFile,
  sink: Sink,
  out: Output,
): Promise<Downloaded> {
  const { client, board } = files.session;
  let hash: Hash = createHash('sha256');
  const progress = progressOf(out, name ?? file);
  const hashing: Sink = {
    async write(chunk) {
      hash.update(chunk);
      await sink.write(chunk);
    },
    async restart() {
      hash = createHash('sha256');
      await sink.restart();
    },
  };
  try {
    const got = await download(client, { board, file, version }, hashing, (done, total) => progress.at(done, total));
    if (`sha256:${hash.digest('hex')}` === got.digest) return got;
  } finally {
    progress.end();
  }
  throw new Failure('checksum_mismatch', `What arrived of ${file} is not what the server has, so it was not kept.`, {
    hint: called(
      'Get it again; if it stays so, its stored bytes are damaged: the server’s operator finds that with service doctor',
    ),
  });
}

const toFile = (file: FileHandle): Sink => ({
  async write(chunk) {
    await file.writeFile(chunk);
  },
  async restart() {
    await file.truncate(0);
  },
});

/** A file that somebody changed, or that is none of ours, is not written over. */
async function requireOurs(files: Files, path: string, force: boolean): Promise<void> {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw unwritable({ code: 'EISDIR' }, path);
  if (force || !there) return;
  const noted = notedAt(files, path);
  if (noted && noted.digest === (await digestOfFile(path))) return;
  const why = noted ? 'was changed since it was got' : 'is there already';
  throw new Failure('local_file_exists', `${path} ${why}, so it was left as it is.`, {
    hint: 'Name another path, or write over it with --force',
    details: { path },
  });
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return `sha256:${hash.digest('hex')}`;
}
