/** Bytes as files of this machine: `sha256/ab/cd/<hex>` under a folder that only the server's user may reach. */
import { link, lstat, mkdir, open, readdir, stat, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Kept, stageIn, tidyStage } from './stage.ts';
import {
  BlobMissing,
  type BlobStore,
  type ByteRange,
  type Digest,
  type Entry,
  hexOf,
  type Staged,
  type StageOptions,
} from './store.ts';

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

export class DiskStore implements BlobStore {
  readonly kind = 'disk';
  readonly #root: string;
  readonly #stage: string;
  /** Folders whose names are on the disk. */
  readonly #flushed = new Set<string>();

  private constructor(root: string) {
    this.#root = root;
    this.#stage = join(root, 'tmp');
  }

  /** @throws UnsafeFolder where the folder is a link, not the server's own, or on another machine. */
  static async open(root: string): Promise<DiskStore> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const found = await lstat(root);
    if (found.isSymbolicLink() || !found.isDirectory()) throw new UnsafeFolder(`${root} is not a folder of its own`);
    if (process.getuid !== undefined && found.uid !== process.getuid())
      throw new UnsafeFolder(`${root} belongs to another user`);
    if ((found.mode & 0o077) !== 0 && process.platform !== 'win32')
      throw new UnsafeFolder(`${root} is open to others; chmod 700 closes it`);
    const system = networked.get((await statfs(root)).type >>> 0);
    if (system !== undefined) throw new UnsafeFolder(`${root} lies on another machine (${system})`);
    const store = new DiskStore(root);
    for (const folder of [store.#stage, join(root, 'sha256')]) await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const folder of [dirname(root), root]) await flush(folder);
    return store;
  }

  stage(source: AsyncIterable<Buffer>, options: StageOptions): Promise<Staged> {
    return stageIn(this.#stage, source, options, (kept) => this.#publish(kept));
  }

  async open(digest: Digest, range?: ByteRange): Promise<Readable> {
    const file = await open(this.#pathOf(digest)).catch((error: unknown) => {
      throw isMissing(error) ? new BlobMissing(digest, error) : error;
    });
    return file.createReadStream(range ?? {});
  }

  async stat(digest: Digest): Promise<Omit<Entry, 'digest'> | null> {
    const found = await stat(this.#pathOf(digest)).catch(nullIfMissing);
    return found && { size: found.size, modifiedAt: found.mtimeMs };
  }

  async *list(): AsyncIterable<Entry> {
    const top = join(this.#root, 'sha256');
    for (const first of await readdir(top)) {
      for (const second of await readdir(join(top, first))) {
        for (const hex of await readdir(join(top, first, second))) {
          const found = await this.stat(`sha256:${hex}`);
          if (found) yield { digest: `sha256:${hex}`, ...found };
        }
      }
    }
  }

  async delete(digest: Digest): Promise<void> {
    await unlink(this.#pathOf(digest)).catch(nullIfMissing);
  }

  tidy(before: number): Promise<void> {
    return tidyStage(this.#stage, before);
  }

  async close(): Promise<void> {}

  #folderOf(hex: string): string[] {
    return [this.#root, 'sha256', hex.slice(0, 2), hex.slice(2, 4)];
  }

  #pathOf(digest: Digest): string {
    const hex = hexOf(digest);
    return join(...this.#folderOf(hex), hex);
  }

  /** The name appears only once the bytes are on the disk, and is on the disk itself before this ends. */
  async #publish({ path, digest, size }: Kept): Promise<void> {
    await flush(path);
    const folder = join(...this.#folderOf(hexOf(digest)));
    // Also where somebody else made it, who may not have flushed it yet.
    if (!this.#flushed.has(folder)) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await flush(join(folder, '..', '..'));
      await flush(join(folder, '..'));
      this.#flushed.add(folder);
    }
    const final = this.#pathOf(digest);
    for (;;) {
      const there = await this.stat(digest);
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
  }
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
