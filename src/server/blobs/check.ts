/** Tools for the server's operator: checking that every version has its bytes, and copying all bytes to another store. */
import { createHash } from 'node:crypto';
import type { Database } from '../db/tx.ts';
import { lookInto } from '../upkeep/data-folder.ts';
import { ServeError, unreachable } from '../upkeep/serve-error.ts';
import { withoutPassword } from '../upkeep/storage.ts';
import { countVersions, namingVersions, referencedBlobs } from './blobs.store.ts';
import { addressOf, openStore } from './open.ts';
import { BlobMissing, type BlobStore, type Digest, NoRoom, StoreDown } from './store.ts';

const PAGE = 500;
/** Versions told of each damaged digest. */
const NAMED = 10;

export interface StorageOptions {
  dataDir: string;
  /** Default: the one the folder was last used with. */
  db?: string | undefined;
}

interface BadBytes {
  digest: Digest;
  state: 'missing' | 'corrupt';
  /** What names them, the newest first; a few, where it is many. */
  versions: { board: string; name: string; version: number }[];
}

interface CheckOptions {
  onStep?: (done: number, total: number) => void;
  /** Asked before each file: whether to leave it at what was looked at. */
  enough?: () => boolean;
}

/**
 * Reads the bytes of every version, whose server may be running, until `enough` ends it. Answers how many were looked at,
 * where the database is without a password, the kind of the store, and its address as `storage copy` takes it.
 * @throws ServeError
 */
export async function checkStorage(
  { files, ...options }: StorageOptions & { files?: string | undefined },
  { onStep = () => {}, enough = () => false }: CheckOptions = {},
) {
  return using(options, async (db, url, open) => {
    // The folder of the data folder was not mistyped: what is lost with it is told version by version.
    const store = await open(files, { fresh: files === undefined });
    const found = {
      db: withoutPassword(url),
      files: store.kind,
      url: addressOf(files, options.dataDir),
      checked: 0,
      bad: [] as BadBytes[],
      complete: true,
    };
    const total = await db.read(countVersions);
    for await (const { digest, versions } of referenced(db)) {
      if (enough()) return { ...found, complete: false };
      const state = await stateOf(store, digest);
      if (state !== 'intact')
        found.bad.push({ digest, state, versions: await db.read((tx) => namingVersions(tx, digest, NAMED)) });
      found.checked += Number(versions);
      onStep(found.checked, total);
    }
    return found;
  });
}

/**
 * Takes all bytes of one store to another, where those that are there and whole are left; may be run again. What versions
 * name and the other store does not have then has `failed`. @throws ServeError
 */
export async function copyStorage({ from, to, ...options }: StorageOptions & { from: string; to: string }) {
  return using(options, async (db, _url, open) => {
    const [source, target] = [await open(from), await open(to, { fresh: true, writes: true })];
    const result = { copied: 0, skipped: 0, failed: [] as Digest[] };
    const whole = new Set<Digest>();
    for await (const { digest } of source.list()) {
      if ((await stateOf(target, digest)) === 'intact') result.skipped++;
      else if (await copy(source, target, digest)) result.copied++;
      else continue;
      whole.add(digest);
    }
    // What the source does not have may be in the target already, as what a running server stored meanwhile.
    for await (const { digest } of referenced(db))
      if (!whole.has(digest) && (await stateOf(target, digest)) !== 'intact') result.failed.push(digest);
    return result;
  });
}

/** The bytes that versions name, each once. */
async function* referenced(db: Database) {
  for (let after = ''; ; ) {
    const page = await db.read((tx) => referencedBlobs(tx, after, PAGE));
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.digest;
  }
}

async function copy(source: BlobStore, target: BlobStore, digest: Digest): Promise<boolean> {
  const staged = await source
    .open(digest)
    .then((bytes) => target.stage(bytes, { maxBytes: Number.POSITIVE_INFINITY }))
    .catch((error: unknown) => {
      if (isUnreadable(error) || error instanceof BlobMissing) return null;
      throw error;
    });
  if (!staged) return false;
  try {
    if (staged.digest !== digest) return false;
    // What lies there under this digest is not whole.
    await target.delete(digest);
    await staged.publish();
    return true;
  } finally {
    await staged.discard();
  }
}

async function stateOf(store: BlobStore, digest: Digest): Promise<'intact' | 'missing' | 'corrupt'> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of await store.open(digest)) hash.update(chunk as Buffer);
  } catch (error) {
    if (error instanceof BlobMissing) return 'missing';
    if (isUnreadable(error)) return 'corrupt';
    throw error;
  }
  return `sha256:${hash.digest('hex')}` === digest ? 'intact' : 'corrupt';
}

/** Whether a disk does not give bytes that it has: the others can be read all the same. */
const isUnreadable = (error: unknown): boolean =>
  ['EIO', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

interface Opening {
  /** Nothing need be there yet. */
  fresh?: boolean;
  writes?: boolean;
}

const using = <T>(
  options: StorageOptions,
  work: (
    db: Database,
    url: string,
    open: (files: string | undefined, as?: Opening) => Promise<BlobStore>,
  ) => Promise<T>,
): Promise<T> =>
  lookInto(options, async (db, url) => {
    const opened: BlobStore[] = [];
    try {
      return await work(db, url, async (files, { fresh = false, writes = false } = {}) => {
        const { dataDir } = options;
        const how = { beside: true, existing: !fresh, readonly: !writes };
        const store = await openStore(files, { dataDir, db, dbUrl: url, ...how });
        opened.push(store);
        return store;
      });
    } catch (error) {
      throw ofStore(error);
    } finally {
      for (const store of opened) await store.close();
    }
  });

/** What keeps bytes from being read or written as a message for the operator; other errors stay as they are. */
function ofStore(error: unknown): unknown {
  if (error instanceof NoRoom)
    return new ServeError(
      'storage_full',
      'There is no room left where the files go.',
      'Free some space there, then run it again: what was copied stays.',
    );
  if (error instanceof StoreDown)
    return unreachable(
      `The files cannot be used: ${error.message}.`,
      'Check the address, its keys and their rights, then run it again.',
    );
  return error;
}
