/** Putting bytes into the store and taking unused ones out, so that no version ever names bytes that are not there. */
import type { Logger } from 'pino';
import type { Clock, Repeat } from '../db/clock.ts';
import type { Database, ReadTx, WriteTx } from '../db/tx.ts';
import { firstPersonAt } from '../people/people.store.ts';
import { readMeta, setMeta } from '../settings/settings.store.ts';
import {
  blobOf,
  isReferenced,
  lastTouch,
  lockBlob,
  referencedBlobs,
  removeBlob,
  storedBytes,
  touchBlob,
  unreferenced,
} from './blobs.store.ts';
import { type BlobStore, type Digest, NoRoom, type Staged, StoreDown } from './store.ts';

/** Bytes that no version names are kept this long. */
const KEPT_MS = 86_400_000;
const EVERY_MS = 21_600_000;
/** How long an upload waits for another one of the same bytes, or for their removal. */
const WAIT_MS = 30_000;
const BATCH = 200;
const PAGE = 500;
/** Held while bytes are looked for. */
export const LOOKING = 'looking for bytes';
/** Bytes that are looked for at once. */
const STATS = 8;
/** Digests in a line of the log. */
const NAMED = 5;

interface BlobOptions {
  db: Database;
  store: BlobStore;
  clock: Clock;
  log: Logger;
  /** Bytes that all files together may take; 0: as many as fit. */
  quota: number;
  /** The command that names what is missing. */
  look: string;
}

/** Bytes that were published may have been taken away again: they are to be published once more. */
export class MaybeCollected extends Error {}

export class Blobs {
  readonly store: BlobStore;
  readonly #options: BlobOptions;
  #cancel = () => {};
  #stopped = false;
  #running: Promise<void> = Promise.resolve();
  /** Bytes put between these two times are not in this database's past: it was a later one that knew of them. */
  #unknown = { from: 0, to: 0, looked: false };

  constructor(options: BlobOptions) {
    this.#options = options;
    this.store = options.store;
  }

  /** Whether bytes of this size would fit, as far as it is known before they come. @throws NoRoom. */
  async requireRoom(size: number): Promise<void> {
    const { db, quota } = this.#options;
    if (quota > 0 && (await db.read(storedBytes)) + size > quota) throw quotaReached();
  }

  /** Makes staged bytes durable and records them, so that a transaction can refer to them. @throws NoRoom, MaybeCollected */
  async publish(staged: Staged): Promise<void> {
    const { db } = this.#options;
    const published = this.#alone(staged.digest, WAIT_MS, async (confirm) => {
      await staged.publish();
      const fits = await db.write((tx) => this.#note(tx, staged));
      if (fits) return confirm();
      // A row means that these bytes were there before.
      if (!(await db.read((tx) => blobOf(tx, staged.digest)))) await this.store.delete(staged.digest, confirm);
      throw quotaReached();
    });
    if (!(await published)) throw new StoreDown('somebody else still puts or removes these bytes');
  }

  /**
   * False: together with what is there already it would be more than the quota. The same bytes count again: that they take no
   * more would tell their sender that they lie on some board.
   */
  async #note(tx: WriteTx, { digest, size }: Staged): Promise<boolean> {
    const { quota } = this.#options;
    if (quota > 0) {
      await tx.serialise('blob quota');
      if ((await storedBytes(tx)) + size > quota) return false;
    }
    await touchBlob(tx, digest, size);
    return true;
  }

  /**
   * Collects now and every 6 hours; looks once, after the first time, whether all bytes are there. Before anything is put: what
   * the database knows of by then shows how old it is.
   */
  async start(repeat: Repeat): Promise<void> {
    // Bytes in the database itself are always as old as it.
    if (!this.store.deleteIn)
      this.#unknown = await this.#options.db.read(async (tx) => ({
        from: wholeSecond((await lastTouch(tx)) ?? 0),
        to: wholeSecond(tx.now),
        looked: false,
      }));
    const failed = (what: string) => (error: unknown) => this.#report({ err: error }, `${what} failed`);
    let looked: Promise<void> | undefined;
    this.#cancel = repeat(EVERY_MS, () => {
      this.#running = this.collect()
        .catch(failed('collecting unused bytes'))
        .then(() => (looked ??= this.#look().catch(failed('looking for the bytes of files'))));
      return this.#running;
    });
  }

  /**
   * After a restore without the files nobody else would notice until one is asked for. Told by their size, which is cheap
   * enough for every start. Of processes that start together one is enough.
   */
  async #look(): Promise<void> {
    const release = await this.#options.db.claim(LOOKING, 0);
    if (release) await this.#lookForAll().finally(release);
  }

  async #lookForAll(): Promise<void> {
    const { db, log, look } = this.#options;
    const missing: Digest[] = [];
    const damaged: Digest[] = [];
    let checked = 0;
    for (let after = ''; ; ) {
      const page = await db.read((tx) => referencedBlobs(tx, after, PAGE));
      const last = page.at(-1);
      if (!last) break;
      for (let n = 0; n < page.length; n += STATS) {
        if (this.#stopped) return;
        const part = page.slice(n, n + STATS);
        const found = await Promise.all(part.map(({ digest }) => this.store.stat(digest)));
        for (const [i, { digest, size }] of part.entries()) {
          if (!found[i]) missing.push(digest);
          else if (found[i].size !== Number(size)) damaged.push(digest);
        }
        checked += part.length;
      }
      after = last.digest;
    }
    const digests = [...missing, ...damaged].slice(0, NAMED);
    const found = { checked, missing: missing.length, damaged: damaged.length, digests, look };
    if (digests.length > 0) log.warn(found, 'bytes of files are missing or damaged');
    else log.info({ checked }, 'the bytes of all files are there');
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.store.stop?.();
    await this.#running;
    await this.store.close();
  }

  /** Removes bytes that no version names and that are old; one process at a time. */
  async collect(): Promise<void> {
    const { db, clock } = this.#options;
    const release = await db.claim('blob collection', 0);
    if (!release) return;
    const until = clock.now() - KEPT_MS;
    try {
      await this.#collectRows();
      await this.#collectStrays(await db.read(ownSince), until);
    } finally {
      await this.store.tidy(until).finally(release);
    }
  }

  async #collectRows(): Promise<void> {
    for (let after = ''; !this.#stopped; ) {
      const rows = await this.#options.db.read((tx) => unreferenced(tx, tx.now - KEPT_MS, after, BATCH));
      for (const { digest } of rows) if (!this.#stopped) await this.#remove(digest).catch(this.#notRemoved(digest));
      const last = rows.at(-1);
      if (!last) return;
      after = last.digest;
    }
  }

  /**
   * The row goes first, and only while its bytes lie unused: a write that has found the row holds it, so that this waits
   * and then sees the version; one that comes later finds no row and publishes again, which waits for the end of this.
   */
  #remove(digest: Digest): Promise<boolean> {
    return this.#alone(digest, 0, async (confirm) => {
      const gone = await this.#options.db.write(async (tx) => {
        const row = await lockBlob(tx, digest);
        if (!row || row.touched_at >= tx.now - KEPT_MS || (await isReferenced(tx, digest))) return false;
        await removeBlob(tx, digest);
        await this.store.deleteIn?.(tx, digest);
        return true;
      });
      if (gone && !this.store.deleteIn) await this.store.delete(digest, confirm);
    });
  }

  /**
   * What a later database knew of stays: this one is an earlier state of it, and the later one may yet be put back. That there
   * is such is noted, because once something new is put here it no longer shows.
   */
  async #collectStrays(since: number, until: number): Promise<void> {
    const { db } = this.#options;
    const unknown = this.#unknown;
    const { from, to } = unknown;
    for await (const { digest, modifiedAt } of this.store.list()) {
      if (this.#stopped) return;
      if (modifiedAt < since) continue;
      if (modifiedAt < from || modifiedAt >= to) {
        if (modifiedAt < until) await this.#collectStray(digest).catch(this.#notRemoved(digest));
      } else if (!unknown.looked && !(await db.read((tx) => blobOf(tx, digest)))) {
        await db.write((tx) => setMeta(tx, 'files_since', String(to)));
        unknown.looked = true;
      }
    }
    unknown.looked = true;
  }

  /** One that cannot be removed does not stand in the way of the others; the next collection tries it again. */
  #notRemoved = (digest: Digest) => (error: unknown) =>
    this.#report({ err: error, digest }, 'unused bytes cannot be removed');

  /** What a stop ended is no failure. */
  #report(about: object, message: string): void {
    if (!this.#stopped) this.#options.log.error(about, message);
  }

  /** Bytes without a row: of a process that ended before it could note them, or could not remove them any more. */
  #collectStray(digest: Digest): Promise<boolean> {
    return this.#alone(digest, 0, async (confirm) => {
      if (await this.#options.db.read((tx) => blobOf(tx, digest))) return;
      const found = await this.store.stat(digest);
      if (found && found.modifiedAt < this.#options.clock.now() - KEPT_MS) await this.store.delete(digest, confirm);
    });
  }

  /**
   * Publishing and removing the same bytes exclude each other, in all processes.
   * @param fn is given what throws MaybeCollected once another process can have come in between, because a connection was lost.
   * @returns false where the bytes were not free within `waitMs`: then it did not run.
   */
  async #alone(digest: Digest, waitMs: number, fn: (confirm: () => Promise<void>) => Promise<void>): Promise<boolean> {
    const release = await this.#options.db.claim(`blob ${digest}`, waitMs);
    if (!release) return false;
    try {
      await fn(async () => {
        if (!(await release.held())) throw new MaybeCollected('the lock on these bytes was lost');
      });
      return true;
    } finally {
      await release();
    }
  }
}

/** Object stores tell whole seconds. */
const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** What is older is another database's, which may be put back here. */
async function ownSince(tx: ReadTx): Promise<number> {
  const first = (await firstPersonAt(tx)) ?? Number.POSITIVE_INFINITY;
  return Math.max(wholeSecond(first), Number((await readMeta(tx, 'files_since')) ?? 0));
}

const quotaReached = (): NoRoom => new NoRoom('the quota is used up');
