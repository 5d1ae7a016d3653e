/**
 * Reads for waits that were woken together, a few at a time in one snapshot: their credentials are read at once, and
 * operations that can answer several requests at once do so. Between two batches the event loop goes on: what was
 * written to sockets only leaves when a turn ends.
 */
import { Refusal } from '../../contract/errors.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { authenticateAll, type Caller, type Credential, orRefusal } from '../operation/caller.ts';
import type { Input, Look, WaitCase, Waited } from '../operation/usecase.ts';

/** Most looks in one snapshot. */
const LOT = 32;
/** Snapshots at once where each has a connection of its own to a server. */
const AT_ONCE = 4;

interface Job {
  credential: Credential;
  look: Look;
  resolve(found: Waited<never>): void;
  reject(error: unknown): void;
}

/** The outcome of a job. */
type Found = Waited<unknown> | Refusal;

export class Together {
  readonly #db: Database;
  #queue: Job[] = [];
  #running = 0;
  #planned = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Looks in a snapshot that is taken after this call. @throws Refusal also where the credential works no longer. */
  look<T>(credential: Credential, look: Look): Promise<Waited<T>> {
    return new Promise<Waited<T>>((resolve, reject) => {
      this.#queue.push({ credential, look, resolve, reject });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    // After all waits that were woken in this turn have asked.
    process.nextTick(() => this.#next());
  }

  #next(): void {
    this.#planned = false;
    if (this.#queue.length === 0 || this.#running >= (this.#db.dialect.shared ? AT_ONCE : 1)) return;
    this.#running++;
    void this.#lot(this.#queue.splice(0, LOT)).finally(() => {
      this.#running--;
      setImmediate(() => this.#next());
    });
    if (this.#queue.length > 0 && this.#db.dialect.shared) this.#plan();
  }

  async #lot(jobs: Job[]): Promise<void> {
    try {
      const found = await this.#db.read((tx) => lookAll(tx, jobs), { ahead: true });
      for (const [index, job] of jobs.entries()) tell(job, found[index] as Found);
    } catch (error) {
      if (jobs.length === 1) return jobs[0]?.reject(error);
      // The error of one must not fail the others.
      for (const job of jobs) await this.#lot([job]);
    }
  }
}

function tell({ resolve, reject }: Job, found: Found): void {
  if (found instanceof Refusal) reject(found);
  else resolve(found as Waited<never>);
}

/** In the order of the jobs. */
async function lookAll(tx: ReadTx, jobs: readonly Job[]): Promise<Found[]> {
  const callers = await authenticateAll(
    tx,
    jobs.map((job) => job.credential),
  );
  const found = [...callers] as (Caller | Found)[];
  const known = jobs.flatMap(({ look }, index) => {
    const caller = callers[index];
    return caller === undefined || caller instanceof Refusal ? [] : [{ index, caller, ...look }];
  });
  for (const [useCase, asked] of Map.groupBy(known, (one) => one.case)) {
    const answers = await runAll(tx, useCase, asked);
    for (const [n, { index }] of asked.entries()) found[index] = answers[n] as Found;
  }
  return found as Found[];
}

async function runAll(
  tx: ReadTx,
  useCase: WaitCase<OperationName>,
  asked: readonly { caller: Caller; input: Input<OperationName> }[],
): Promise<Found[]> {
  const all = useCase.runAll && asked.length > 1 ? await orRefusal(async () => useCase.runAll?.(tx, asked)) : undefined;
  if (all && !(all instanceof Refusal)) return all;
  const found: Found[] = [];
  for (const { caller, input } of asked) found.push(await orRefusal(() => useCase.run(tx, caller, input)));
  return found;
}
