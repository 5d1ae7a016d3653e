/** Putting bytes into the store and taking unused ones out, so that no version ever names bytes that are not there. */
import type { Logger } from 'pino';
import type { Clock, Repeat } from '../db/clock.ts';
import type { Database, WriteTx } from '../db/tx.ts';
import {
  blobOf,
  expectBlob,
  forgetBlob,
  isReferenced,
  lockBlob,
  referencedBlobs,
  retireBlob,
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
  readonly #began: number;

  constructor(options: BlobOptions) {
    this.#options = options;
    this.store = options.store;
    // Object stores tell whole seconds.
    this.#began = Math.floor(options.clock.now() / 1000) * 1000;
  }

  /** Whether bytes of this size would fit, as far as it is known before they come. @throws NoRoom. */
  async requireRoom(size: number): Promise<void> {
    const { db, quota } = this.#options;
    if (quota > 0 && (await db.read(storedBytes)) + size > quota) throw quotaReached();
  }

  /** Makes staged bytes durable and records them, so that a transaction can refer to them. @throws NoRoom, MaybeCollected */
  async publish(staged: Staged): Promise<void> {
    const { db } = this.#options;
    // Before anything is put, or found there, which would have to be taken away again.
    await this.requireRoom(staged.size);
    const published = this.#alone(staged.digest, WAIT_MS, async (confirm) => {
      // First, so that what a process leaves behind that ends before the next note has a row, too.
      await db.write((tx) => expectBlob(tx, staged.digest));
      await staged.publish();
      const fits = await db.write((tx) => this.#note(tx, staged));
      if (fits) return confirm();
      // A row of their size means that these bytes were there before.
      const row = await db.read((tx) => blobOf(tx, staged.digest));
      if (Number(row?.size) !== staged.size) await this.store.delete(staged.digest, confirm);
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

  /** Collects now and every 6 hours; looks once, after the first time, whether all bytes are there. */
  start(repeat: Repeat): void {
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
      await this.#collectStrays(until);
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
   * The row is retired first, and only while its bytes lie unused: a write that has found it holds it, so that this waits
   * and then sees the version; one that comes later publishes again, which waits for the end of this. It goes last, so that
   * bytes that could not be removed are found again.
   */
  #remove(digest: Digest): Promise<boolean> {
    const { db } = this.#options;
    return this.#alone(digest, 0, async (confirm) => {
      const unused = await db.write(async (tx) => {
        const row = await lockBlob(tx, digest);
        if (!row || row.touched_at >= tx.now - KEPT_MS || (await isReferenced(tx, digest))) return false;
        await retireBlob(tx, digest);
        await this.store.deleteIn?.(tx, digest);
        return true;
      });
      if (!unused) return;
      if (!this.store.deleteIn) await this.store.delete(digest, confirm);
      await db.write((tx) => forgetBlob(tx, digest));
    });
  }

  /**
   * Bytes without a row are not of this database's past: what it puts has one first. Those from before this start stay, as they
   * may be of a later state, of which an earlier one was restored here, or of another database; either may yet be put back.
   */
  async #collectStrays(until: number): Promise<void> {
    if (until <= this.#began) return;
    for await (const { digest, modifiedAt } of this.store.list()) {
      if (this.#stopped) return;
      if (modifiedAt >= this.#began && modifiedAt < until)
        await this.#collectStray(digest).catch(this.#notRemoved(digest));
    }
  }

  /** One that cannot be removed does not stand in the way of the others; the next collection tries it again. */
  #notRemoved = (digest: Digest) => (error: unknown) =>
    this.#report({ err: error, digest }, 'unused bytes cannot be removed');

  /** What a stop ended is no failure. */
  #report(about: object, message: string): void {
    if (!this.#stopped) this.#options.log.error(about, message);
  }

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

const quotaReached = (): NoRoom => new NoRoom('the quota is used up');
