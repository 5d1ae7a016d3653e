/** Bytes as files of this machine: `sha256/ab/cd/<hex>` under a folder that only the server's user may reach. */
import { existsSync } from 'node:fs';
import { link, lstat, mkdir, open, readdir, stat, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Kept, stageIn, tidyStage } from './stage.ts';
import { BlobMissing, type BlobStore, type Digest, type Entry, hexOf } from './store.ts';

/** File systems of other machines, by the numbers their kernel gives them: their locks and flushes promise less. */
const networked = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
]);

/** Why a folder cannot hold the files. */
export class UnsafeFolder extends Error {
  override readonly name = 'UnsafeFolder';
}

/**
 * @param readonly nothing is put there, and no folder is made.
 * @throws UnsafeFolder where the folder is a link, not the server's own, or on another machine.
 */
export async function diskStore(root: string, readonly = false): Promise<BlobStore> {
  const [stage, top] = [join(root, 'tmp'), join(root, 'sha256')];
  if (!readonly) await mkdir(root, { recursive: true, mode: 0o700 });
  if (existsSync(root)) await requireSafe(root);
  if (!readonly) {
    for (const folder of [stage, top]) await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const folder of [dirname(root), root]) await flush(folder);
  }
  /** Folders whose names are on the disk. */
  const flushed = new Set<string>();

  const pathOf = (digest: Digest): string => {
    const hex = hexOf(digest);
    return join(top, hex.slice(0, 2), hex.slice(2, 4), hex);
  };

  const statOf = async (digest: Digest): Promise<Omit<Entry, 'digest'> | null> => {
    const found = await stat(pathOf(digest)).catch(nullIfMissing);
    return found && { size: found.size, modifiedAt: found.mtimeMs };
  };

  /** The name appears only once the bytes are on the disk, and is on the disk itself before this ends. */
  const publish = async ({ path, digest, size }: Kept): Promise<void> => {
    await flush(path);
    const final = pathOf(digest);
    const folder = dirname(final);
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    // Also where somebody else made it, who may not have flushed it yet.
    if (made !== undefined || !flushed.has(folder)) {
      await flush(join(folder, '..', '..'));
      await flush(join(folder, '..'));
      flushed.add(folder);
    }
    for (;;) {
      const there = await statOf(digest);
      if (there?.size === size) break;
      // Cut short by something that is none of ours: it must not stand in the way of the whole.
      if (there) await unlink(final).catch(nullIfMissing);
      const linked = await link(path, final).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'EEXIST') return false;
          throw error;
        },
      );
      if (linked) break;
    }
    await flush(folder);
  };

  return {
    kind: 'disk',
    stage: (source, options) => stageIn(stage, source, options, publish),
    async open(digest, range) {
      const file = await open(pathOf(digest)).catch((error: unknown) => {
        throw isMissing(error) ? new BlobMissing(digest, error) : error;
      });
      return file.createReadStream(range ?? {});
    },
    stat: statOf,
    async *list() {
      for (const first of await namesIn(top, 2)) {
        for (const second of await namesIn(join(top, first), 2)) {
          for (const hex of await namesIn(join(top, first, second), 64)) {
            const found = await statOf(`sha256:${hex}`);
            if (found) yield { digest: `sha256:${hex}`, ...found };
          }
        }
      }
    },
    async delete(digest, confirm) {
      await confirm?.();
      await unlink(pathOf(digest)).catch(nullIfMissing);
    },
    tidy: (before) => tidyStage(stage, before),
    async close() {},
  };
}

/** The names of that many digits; others are not ours, such as what a file manager leaves where somebody looked in. */
async function namesIn(folder: string, digits: number): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => name.length === digits && /^[0-9a-f]+$/.test(name));
}

async function requireSafe(root: string): Promise<void> {
  const found = await lstat(root);
  if (found.isSymbolicLink() || !found.isDirectory()) throw new UnsafeFolder(`${root} is not a folder of its own`);
  if (process.getuid !== undefined && found.uid !== process.getuid())
    throw new UnsafeFolder(`${root} belongs to another user`);
  if ((found.mode & 0o077) !== 0 && process.platform !== 'win32')
    throw new UnsafeFolder(`${root} is open to others; chmod 700 closes it`);
  const system = networked.get((await statfs(root)).type >>> 0);
  if (system !== undefined) throw new UnsafeFolder(`${root} lies on another machine (${system})`);
}

/** Makes a file's bytes or a folder's names durable. Not every platform can open a folder; there the file system decides. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (process.platform === 'win32') return null;
    throw error;
  });
  try {
    await file?.sync();
  } finally {
    await file?.close();
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
