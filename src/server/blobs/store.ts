/** Where the bytes of files lie: under their SHA-256, unchangeable, each once. What they are called is the database's. */
import type { Readable } from 'node:stream';
import type { WriteTx } from '../db/tx.ts';
import type { FileScan, FileSecrets } from '../text/file-scan.ts';

/** `sha256:` and 64 hex digits. */
export type Digest = string;

export type StoreKind = 'disk' | 'db' | 's3';

/** Bytes that have arrived and are kept aside: nobody finds them yet. */
export interface Staged {
  digest: Digest;
  size: number;
  secrets: FileSecrets | null;
  /** Makes them durable under their digest; may be called again after they were removed there. */
  publish(): Promise<void>;
  /** Removes what was kept aside. */
  discard(): Promise<void>;
}

export interface StageOptions {
  /** One byte more is `TooManyBytes`. */
  maxBytes: number;
  /** What looks through them for secrets; left out: nothing does. */
  scan?: FileScan;
}

/** Both ends belong to it, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface Entry {
  digest: Digest;
  size: number;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
}

export interface BlobStore {
  readonly kind: StoreKind;
  /** Takes bytes as they come; the memory it needs does not grow with them. @throws TooManyBytes, NoRoom. */
  stage(source: AsyncIterable<Buffer>, options: StageOptions): Promise<Staged>;
  /** @param signal ends the wait for a store that is far away. @throws BlobMissing. */
  open(digest: Digest, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;
  stat(digest: Digest): Promise<Omit<Entry, 'digest'> | null>;
  /** Everything it holds, also what no version names. */
  list(): AsyncIterable<Entry>;
  /**
   * Removes bytes; nothing happens where there are none.
   * @param confirm asked just before each attempt; none follows where it throws.
   */
  delete(digest: Digest, confirm?: () => Promise<void>): Promise<void>;
  /** Removes bytes with a transaction of the server's database, in which they lie. */
  deleteIn?(tx: WriteTx, digest: Digest): Promise<unknown>;
  /** Removes what was kept aside before this time by a process that has ended since. */
  tidy(before: number): Promise<void>;
  /** Ends what waits for a store that is far away; nothing is asked of it any more. */
  stop?(): void;
  close(): Promise<void>;
}

export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/** The disk or a quota is at its end. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

/** The place of the bytes cannot be used now: it is not reachable, not writable, or broken. */
export class StoreDown extends Error {
  override readonly name = 'StoreDown';
}

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';
  constructor(digest: Digest, cause?: unknown) {
    super(`no bytes under ${digest}`, { cause });
  }
}

const digestPattern = /^sha256:([0-9a-f]{64})$/;

/** The 64 hex digits of a digest. @throws Error for anything else, which must never become part of a path */
export function hexOf(digest: Digest): string {
  const hex = digestPattern.exec(digest)?.[1];
  if (hex === undefined) throw new Error('not a digest');
  return hex;
}
