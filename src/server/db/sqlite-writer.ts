/** Group commit: all writes that wait when the writer is free share one durable transaction. */
import Sqlite from 'better-sqlite3';
import { Batches } from './batches.ts';
import type { Clock } from './clock.ts';
import { Contention, StorageFull, Unreachable } from './dialect.ts';
import { type Connection, SqliteSession, SqliteWriteTx } from './sqlite-connection.ts';

/** Most writes in one transaction, so that the first of a burst does not wait for all of it. */
const MAX_BATCH = 256;
/** How long a write waits for another program that has the file, and after which pauses its batch asks. */
const PATIENCE_MS = 5_000;
const ASK_MS = 20;

interface Job {
  /** Whether it may run side by side with others. */
  shares: boolean;
  /** What `waited` was when it came. */
  since: number;
  run(tx: SqliteWriteTx): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Writes of one process, gathered per turn of the event loop into one transaction. */
export function groupWriter(connection: Connection, clock: Clock, notify: (keys: string[]) => void) {
  const batches = new Batches<Job>(MAX_BATCH, (batch) => drain(batch));
  /** For how long batches have waited so far. Counted, not read from a clock that may be set meanwhile. */
  let waited = 0;

  function submit<T>(run: (tx: SqliteWriteTx) => Promise<T>, shares: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      batches.submit({ shares, since: waited, run, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Whether anything is queued or running. */
  const busy = (): boolean => batches.busy;

  /** Resolves when nothing is. */
  async function idle(): Promise<void> {
    while (busy()) await new Promise((resolve) => setImmediate(resolve));
  }

  async function drain(batch: Job[]): Promise<void> {
    const keys = new Set<string>();
    for (let left = batch; left.length > 0; ) left = await commit(left, keys);
    notify([...keys]);
  }

  /**
   * Runs a batch in one transaction and tells its answers after the commit. A write that fails before it changed
   * anything, as refusals do, is simply left out. One that fails later takes the whole transaction back, and the others
   * are answered to run again: a savepoint for each would spare them that, but costs every write a copy of each page it
   * changes, four times the price of the changes themselves. Writes that ran side by side then run one after the other.
   */
  async function commit(asked: Job[], keys: Set<string>): Promise<Job[]> {
    const batch = await begin(asked);
    if (batch.length === 0) return [];
    const settled: (() => void)[] = [];
    const published: string[] = [];
    const side = batch.filter((job) => job.shares);
    try {
      for (const jobs of [side, ...batch.filter((job) => !job.shares).map((job) => [job])]) {
        const session = new SqliteSession(connection, clock.now());
        const ran = await Promise.all(jobs.map((job) => run(job, session, settled)));
        const failed = ran.find((one) => one !== null);
        if (failed) {
          if (!connection.db.inTransaction) throw failed.error;
          connection.exec('ROLLBACK');
          if (jobs === side) for (const job of side) job.shares = false;
          else failed.job.reject(diskError(failed.error, true));
          return batch.filter((job) => jobs === side || job !== failed.job);
        }
        await session.finish();
        published.push(...session.published);
      }
      connection.exec('COMMIT');
    } catch (error) {
      if (connection.db.inTransaction) connection.exec('ROLLBACK');
      for (const job of batch) job.reject(diskError(error, true));
      return [];
    }
    for (const settle of settled) settle();
    for (const key of published) keys.add(key);
    return [];
  }

  /**
   * Another program may have the file for long, as one that vacuums it: asked for in turns, so that reads go on. Each write
   * waits from when it came, also while others wait before it. @returns those that the transaction has begun for
   */
  async function begin(batch: Job[]): Promise<Job[]> {
    for (let left = batch; ; waited += ASK_MS) {
      try {
        connection.exec('BEGIN IMMEDIATE');
        return left;
      } catch (error) {
        const ends = (job: Job): boolean => !isBusy(error) || waited - job.since >= PATIENCE_MS;
        for (const job of left) if (ends(job)) job.reject(diskError(error, true));
        left = left.filter((job) => !ends(job));
      }
      if (left.length === 0) return [];
      await new Promise<void>((resolve) => {
        // The clock's timer alone lets a command end that has nothing else to do.
        const running = setInterval(() => {}, PATIENCE_MS);
        clock.after(ASK_MS, () => resolve(clearInterval(running)));
      });
    }
  }

  /** @returns what failed after it had changed something, or what ended the transaction */
  async function run(
    job: Job,
    session: SqliteSession,
    settled: (() => void)[],
  ): Promise<{ job: Job; error: unknown } | null> {
    const tx = new SqliteWriteTx(connection, session, job.shares);
    try {
      const value = await job.run(tx);
      settled.push(() => job.resolve(value));
    } catch (error) {
      if (tx.changed || !connection.db.inTransaction) return { job, error };
      settled.push(() => job.reject(error));
    } finally {
      tx.done();
    }
    return null;
  }

  return { submit, busy, idle };
}

const isBusy = (error: unknown): error is Sqlite.SqliteError =>
  error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');

/**
 * What a failure of the disk or its lock means; any other error as it is.
 * @param writing whether something was to be written: what was not flushed may still be found by the next start.
 */
export function diskError(error: unknown, writing: boolean): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  if (isBusy(error)) return new Contention('another program has the database', false, error);
  // The disk or a quota is at its end.
  if (error.code === 'SQLITE_FULL') return new StorageFull(error);
  return /^SQLITE_(IOERR|READONLY|CANTOPEN)/.test(error.code) ? new Unreachable(error, writing) : error;
}
