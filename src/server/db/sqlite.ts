/**
 * SQLite: one writer, a few readers, and one durable transaction for all writes that wait when the writer is free.
 *
 * Durability: WAL with synchronous=FULL. better-sqlite3 is compiled with SQLITE_DEFAULT_WAL_SYNCHRONOUS=1, which turns
 * FULL into NORMAL after the first write and on every reopen unless it was set explicitly; a killed process never
 * shows the difference, a power cut does. So it is set and then asserted after a write.
 */
import type Sqlite from 'better-sqlite3';
import type { Clock } from './clock.ts';
import { sqliteDialect } from './dialect.ts';
import { NamedLocks } from './named-locks.ts';
import { quietCheckpoint } from './sqlite-checkpoint.ts';
import { Connection, SqliteReadTx } from './sqlite-connection.ts';
import { diskError, groupWriter } from './sqlite-writer.ts';
import type { Allowed, Claim, Database, Follower, ReadTx, WriteTx } from './tx.ts';

const READERS = 4;

export class SqliteDatabase implements Database {
  readonly dialect = sqliteDialect;
  readonly #writer: { submit: ReturnType<typeof groupWriter>['submit']; close(): Promise<void> } | null;
  readonly #readers: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #file: string;
  readonly #clock: Clock;
  readonly #locks: NamedLocks;
  #follower: Follower | null = null;
  #open = 0;
  #closed = false;

  /** @param readonly nothing in the file is changed, which then has to be there. */
  constructor(file: string, clock: Clock, readonly = false) {
    this.#file = file;
    this.#clock = clock;
    this.#locks = new NamedLocks(clock);
    this.#writer = readonly ? null : this.#openWriter();
  }

  #openWriter() {
    const connection = new Connection(this.#file, {});
    prepareWriter(connection.db);
    // From now on its batches wait for a lock, not the whole process.
    connection.db.pragma('busy_timeout = 0');
    const busy = (): boolean => group.busy() || this.#waiting.length > 0;
    const checkpoint = quietCheckpoint(connection.db, this.#clock, busy);
    const group = groupWriter(connection, this.#clock, (keys) => {
      checkpoint.noticed();
      if (keys.length > 0) this.#follower?.committed(keys);
    });
    const close = async (): Promise<void> => {
      await group.idle();
      checkpoint.stop();
      connection.db.close();
    };
    return { submit: group.submit, close };
  }

  async read<T>(fn: (tx: ReadTx) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Error('the database is closed');
    try {
      const connection = await this.#acquire();
      try {
        connection.exec('BEGIN');
        return await fn(new SqliteReadTx(connection, this.#clock.now()));
      } finally {
        if (connection.db.inTransaction) connection.exec('COMMIT');
        this.#release(connection);
      }
    } catch (error) {
      throw diskError(error, false);
    }
  }

  write<T>(fn: (tx: WriteTx) => Promise<T>, { shares }: Allowed = {}): Promise<T> {
    if (!this.#writer) throw new Error('the database was opened for reading only');
    return this.#writer.submit(fn, Boolean(shares));
  }

  /** There is no other process: the data folder is locked. */
  async claim(name: string, waitMs: number): Promise<Claim | null> {
    const release = await this.#locks.claim(name, waitMs);
    return release && Object.assign(release, { held: async () => true });
  }

  async follow(follower: Follower): Promise<void> {
    this.#follower = follower;
  }

  async close(): Promise<void> {
    this.#closed = true;
    // The connection that closes last removes the log: the writer, after all reads.
    const open = this.#open;
    this.#open = READERS;
    for (let left = open; left > 0; left--) (await this.#acquire()).db.close();
    this.#open = 0;
    await this.#writer?.close();
  }

  #acquire(): Promise<Connection> | Connection {
    const idle = this.#readers.pop();
    if (idle) return idle;
    if (this.#open < READERS) {
      const connection = new Connection(this.#file, { readonly: true });
      this.#open++;
      return connection;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next) next(connection);
    else this.#readers.push(connection);
  }
}

/** Sets what durability rests on, and asserts it after a write, when the engine would have fallen back. */
export function prepareWriter(db: Sqlite.Database): void {
  db.pragma('busy_timeout = 5000');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  // On macOS a sync alone ends in the cache of the drive. Elsewhere this changes nothing.
  db.pragma('fullfsync = ON');
  // 16 MB: between two checkpoints the same pages are written again and again, and each is copied once.
  db.pragma('wal_autocheckpoint = 4000');
  // What a long read let it grow beyond that is given back. Not less: a file that grows makes each commit dearer.
  db.pragma('journal_size_limit = 18000000');
  // Not larger: a commit in which an index page was split walks the whole cache.
  db.pragma('cache_size = -4096');
  db.exec('BEGIN IMMEDIATE; COMMIT');
  const mode = db.pragma('journal_mode', { simple: true });
  const level = db.pragma('synchronous', { simple: true });
  if (mode !== 'wal' || level !== 2)
    throw new Error(`SQLite is not durable here: journal_mode ${mode}, synchronous ${level}`);
}
