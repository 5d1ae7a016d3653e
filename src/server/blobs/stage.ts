/** Keeping bytes aside in a local file while they are counted, hashed and looked through. */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isPassing } from '../db/dialect.ts';
import { type Digest, NoRoom, type Staged, type StageOptions, StoreDown, TooManyBytes } from './store.ts';

/** A file that holds bytes aside. */
export interface Kept {
  path: string;
  digest: Digest;
  size: number;
}

/** @param folder private to the server. @param publish makes the bytes of the file durable. */
export async function stageIn(
  folder: string,
  source: AsyncIterable<Buffer>,
  { maxBytes, scan }: StageOptions,
  publish: (kept: Kept) => Promise<void>,
): Promise<Staged> {
  const path = join(folder, `${process.pid}-${randomBytes(12).toString('hex')}`);
  const file = await open(path, 'wx', 0o600).catch(unusable);
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes) throw new TooManyBytes(`more than ${maxBytes} bytes`);
      hash.update(chunk);
      scan?.push(chunk);
      await writeAll(file, chunk);
    }
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
  await file.close();
  const kept = { path, digest: `sha256:${hash.digest('hex')}`, size };
  return {
    digest: kept.digest,
    size,
    secrets: scan?.end() ?? null,
    publish: () => publish(kept).catch(unusable),
    discard: () => rm(path, { force: true }),
  };
}

async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at).catch(unusable)).bytesWritten;
}

/** Why bytes cannot be kept: there is no room for them, or the place cannot be written, where it is not the database. */
function unusable(error: unknown): never {
  if (error instanceof NoRoom || error instanceof StoreDown || isPassing(error)) throw error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') throw new NoRoom('no room on the disk', { cause: error });
  throw new StoreDown(`the bytes cannot be kept: ${(error as Error).message}`, { cause: error });
}

/** Removes files of a staging folder that were last written before this time. */
export async function tidyStage(folder: string, before: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found && found.mtimeMs < before) await rm(path, { force: true });
  }
}
