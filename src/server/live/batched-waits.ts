/**
 * Reads for waits that begin or were woken together, a few at a time in one snapshot: their credentials are read at once, and
 * operations that can answer several requests at once do so. Between two batches the event loop goes on: what was
 * written to sockets only leaves when a turn ends.
 */
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import type { OperationName } from '../../contract/operations.ts';
import { Unreachable } from '../db/dialect.ts';
import type { Database, ReadTx } from '../db/tx.ts';
import { authenticateAll, type Caller, type Credential, orRefusal } from '../operation/caller.ts';
import { setTerms } from '../operation/terms.ts';
import type { Asked, Look, Looked, WaitCase, Waited } from '../operation/usecase.ts';

/** Most looks in one snapshot. */
const LOT = 32;
/** Snapshots at once where each has a connection of its own to a server. */
const AT_ONCE = 4;

interface Job {
  credential: Credential;
  look: Look;
  admit: ((caller: Caller, now: number) => void) | undefined;
  resolve(looked: Looked): void;
  reject(error: unknown): void;
}

type Found = Waited<unknown> | Refusal;

export class BatchedWaits {
  readonly #db: Database;
  readonly #wakeUps: () => number;
  readonly #log: Logger;
  #queue: Job[] = [];
  #running = 0;
  #planned = false;

  /** @param wakeUps how many wake-ups there have been so far. */
  constructor(db: Database, wakeUps: () => number, log: Logger) {
    this.#db = db;
    this.#wakeUps = wakeUps;
    this.#log = log;
  }

  /**
   * Looks in a snapshot that is taken after this call.
   * @param admit refuses a caller that is known. @throws Refusal where the credential does not work.
   */
  look(credential: Credential, look: Look, admit?: Job['admit']): Promise<Looked> {
    return new Promise<Looked>((resolve, reject) => {
      this.#queue.push({ credential, look, admit, resolve, reject });
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#queue.length === LOT) process.nextTick(() => this.#next());
    if (this.#planned) return;
    this.#planned = true;
    // After all requests that came in this turn, and all waits that were woken in it, have asked.
    setImmediate(() => this.#next());
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

  /** Resolves once what the look leads to is written. Reads go on where nothing can be: the next look leads to it again. */
  #finish(looked: Looked, resolve: Job['resolve']): void {
    const { found } = looked;
    if (found instanceof Refusal || !found.write) resolve(looked);
    else
      void this.#db
        .write(found.write)
        .then(found.written)
        .catch((err: unknown) => this.#log.warn({ err }, 'what a wait led to could not be written'))
        .then(() => resolve(looked));
  }

  async #lot(jobs: Job[]): Promise<void> {
    try {
      const since = this.#wakeUps();
      const looked = await this.#db.read((tx) => lookAll(tx, jobs, since), { ahead: true });
      for (const [index, { resolve, reject }] of jobs.entries()) {
        const one = looked[index] as Looked | Refusal;
        if (one instanceof Refusal) reject(one);
        else this.#finish(one, resolve);
      }
    } catch (error) {
      // The error of one must not fail the others.
      if (jobs.length === 1 || error instanceof Unreachable) for (const { reject } of jobs) reject(error);
      else for (const job of jobs) await this.#lot([job]);
    }
  }
}

/** In the order of the jobs; a refusal where the credential does not work. */
async function lookAll(tx: ReadTx, jobs: readonly Job[], since: number): Promise<(Looked | Refusal)[]> {
  const callers = await authenticateAll(
    tx,
    jobs.map((job) => job.credential),
  );
  const found: Found[] = [];
  const admitted = [];
  for (const [index, { look, admit }] of jobs.entries()) {
    const caller = callers[index] as Caller | Refusal;
    if (caller instanceof Refusal) continue;
    const refusal = await orRefusal(() => {
      setTerms(caller, look.row);
      admit?.(caller, tx.now);
    });
    if (refusal) found[index] = refusal;
    else admitted.push({ index, caller, ...look });
  }
  for (const [useCase, asked] of Map.groupBy(admitted, (one) => one.case)) {
    const answers = await runAll(tx, useCase, asked);
    for (const [n, { index }] of asked.entries()) found[index] = answers[n] as Found;
  }
  return callers.map((caller, index) =>
    caller instanceof Refusal ? caller : { caller, now: tx.now, since, found: found[index] as Found },
  );
}

async function runAll(
  tx: ReadTx,
  useCase: WaitCase<OperationName>,
  asked: readonly Asked<OperationName>[],
): Promise<Found[]> {
  const all = useCase.runAll && asked.length > 1 ? await orRefusal(async () => useCase.runAll?.(tx, asked)) : undefined;
  if (all && !(all instanceof Refusal)) return all;
  const ran = await Promise.allSettled(
    asked.map(({ caller, input, waits }) => orRefusal(() => useCase.run(tx, caller, input, waits))),
  );
  return ran.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}
