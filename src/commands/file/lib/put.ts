/** Uploads a local file as a new version. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { patiently } from '../../../cli/list.ts';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { undoAtExit } from '../../../cli/signals.ts';
import { reasonOf, stdinBytes } from '../../../cli/stdin.ts';
import { progressOf } from '../../../cli/terminal/progress.ts';
import type { Reply } from '../../../client/answer.ts';
import { newIdempotencyKey } from '../../../client/idempotency.ts';
import type { UploadBody } from '../../../client/request.ts';
import type { BoardFile } from '../../../contract/types.ts';
import { MAX_FILE } from '../../../contract/values.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { makeFolder } from '../../../local/folders.ts';
import type { Files } from './scope.ts';

const SPOOLED_MS = 86_400_000;

/** Local bytes as they were when they were first looked at. */
export interface Local {
  path: string;
  size: number;
  /** `sha256:` and hex. */
  digest: string;
  modified: number;
}

/** Looks at a file and hashes it. @throws Failure `file_too_large`; usage where it cannot be read. */
export async function localFile(path: string): Promise<Local> {
  const hash = createHash('sha256');
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw usage(`${path} is no file.`);
    requireSize(path, stat.size);
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    return { path, size: stat.size, modified: stat.mtimeMs, digest: `sha256:${hash.digest('hex')}` };
  } catch (error) {
    throw unreadable(path, error);
  }
}

const unreadable = (path: string, error: unknown): Failure =>
  error instanceof Failure ? error : usage(`The file ${path} cannot be read: ${reasonOf(error)}.`);

function requireSize(path: string, size: number): void {
  if (size <= MAX_FILE) return;
  throw new Failure('file_too_large', `${path} has ${size} bytes; a file may have ${MAX_FILE}, so nothing was sent.`, {
    hint: 'Put it elsewhere and post the link',
    details: { limit: MAX_FILE, size },
  });
}

/** Standard input as a file of its own while it is sent, so that a repeat sends the same. */
export async function spooled<T>(out: Output, use: (local: Local) => Promise<T>): Promise<T> {
  const folder = join(runtime().folders.cache, 'spool');
  makeFolder(folder);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another put may have removed its own meanwhile.
    const there = statSync(path, { throwIfNoEntry: false });
    if (there && there.mtimeMs < Date.now() - SPOOLED_MS) await rm(path, { force: true });
  }
  const path = join(folder, `${process.pid}-${Date.now().toString(36)}`);
  const sent = undoAtExit(() => rmSync(path, { force: true }));
  try {
    await pipeline(bounded(stdinBytes(out, 'the file')), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    return await use(await localFile(path));
  } finally {
    await rm(path, { force: true });
    sent();
  }
}

async function* bounded(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    requireSize('What was piped in', size);
    yield chunk;
  }
}

/** What a write says of itself besides its bytes. */
export interface PutQuery {
  name: string;
  base?: number | undefined;
  file_id?: string | undefined;
  brief?: boolean | undefined;
  replace_format?: boolean | undefined;
  maintained?: boolean | undefined;
  about?: string[] | undefined;
  media_type?: string | undefined;
}

/** Sends a file. @throws ClientError, Failure `file_changed_locally`, `checksum_mismatch`. */
export async function putFile(
  { session }: Files,
  local: Local,
  query: PutQuery,
  { out, key = newIdempotencyKey() }: { out: Output; key?: string | undefined },
): Promise<Reply<BoardFile>> {
  const progress = progressOf(out, query.name);
  const unread = new AbortController();
  const bytes: UploadBody = {
    length: local.size,
    digest: `sha-256=:${Buffer.from(local.digest.slice('sha256:'.length), 'hex').toString('base64')}:`,
    open: () => reading(local, unread, (done) => progress.at(done, local.size)),
  };
  try {
    const call = {
      params: { board: session.board },
      query: { ...query },
      bytes,
      signal: unread.signal,
      idempotencyKey: key,
    };
    // Other uploads may take all places for as long as they last, and these have no limit of time.
    const reply = await patiently(out, Number.POSITIVE_INFINITY)(() => session.client.call('uploadFile', call));
    if (!reply.replayed && reply.data.latest.digest !== local.digest) throw notWhatWasSent(query.name);
    return reply;
  } finally {
    progress.end();
  }
}

/** @param unread aborted with what keeps the bytes from being read: another attempt could not read them either. */
async function* reading(
  local: Local,
  unread: AbortController,
  onProgress: (done: number) => void,
): AsyncGenerator<Uint8Array> {
  let done = 0;
  try {
    for await (const chunk of createReadStream(local.path)) {
      done += (chunk as Buffer).length;
      // Asked before the last bytes go, without which the server stores nothing.
      if (done >= local.size && changed(local)) break;
      yield chunk as Buffer;
      onProgress(done);
      if (done === local.size) return;
    }
    if (local.size > 0) throw changedLocally(local);
  } catch (error) {
    unread.abort(unreadable(local.path, error));
    throw unread.signal.reason;
  }
}

function changed({ path, size, modified }: Local): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now?.size !== size || now.mtimeMs !== modified;
}

const changedLocally = ({ path }: Local): Failure =>
  new Failure('file_changed_locally', `${path} was changed while it was sent, so the rest of it was not sent.`, {
    hint: 'Put it again once it is whole',
  });

const notWhatWasSent = (name: string): Failure =>
  new Failure('checksum_mismatch', `The server has other bytes for ${name} than were sent.`, {
    hint: `Look at what is there: service file show ${name}`,
  });
