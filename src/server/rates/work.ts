/** Limits on what signed-in callers ask for: per process, in memory, without a look into the database. */
import { HOUR, MINUTE } from '../../contract/durations.ts';
import { Refusal } from '../../contract/errors.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Caller } from '../operation/caller.ts';
import { operationsOf, type RateName, type WorkRow, work } from './table.ts';
import { msLeft, rateLimited, Windows } from './window.ts';

/** When a request is counted: once its caller is known, when it waits for news, or when it is no replay. */
export type Moment = 'known' | 'waiting' | 'running';

/** Counts a request. @throws Refusal `rate_limited`. */
export type Admit = (name: OperationName, caller: Caller, now: number, moment?: Moment, about?: About) => void;

/** Counts one request, whose transaction may run more than once: once at each moment. */
export function countingOnce(admit: Admit, name: OperationName) {
  const counted = new Set<Moment>();
  return (caller: Caller, now: number, moment: Moment, about?: About): void => {
    if (counted.has(moment)) return;
    admit(name, caller, now, moment, about);
    // One that was refused is refused again.
    counted.add(moment);
  };
}

/** What the path names. */
type About = Readonly<Record<string, string>>;

interface Bucket {
  name: string;
  row: WorkRow;
  windows: Windows;
}

const momentOf = (row: WorkRow): Moment => (row.waiting ? 'waiting' : row.runsOnly ? 'running' : 'known');

/** @param factor what the numbers of the table are multiplied with; 0 turns them off. */
export function limitWork(factor: number): Admit {
  if (factor === 0) return () => {};
  const byOperation = new Map<string, Bucket[]>();
  for (const [name, row] of Object.entries(work) as [RateName | 'writes', WorkRow][]) {
    const bucket = { name, row, windows: new Windows(row.hourly ? HOUR : MINUTE) };
    for (const operation of operationsOf(name)) {
      const key = keyOf(operation, momentOf(row));
      byOperation.set(key, [...(byOperation.get(key) ?? []), bucket]);
    }
  }
  return (name, caller, now, moment = 'known', about = {}) => {
    const buckets = byOperation.get(keyOf(name, moment));
    if (buckets === undefined) return;
    for (const bucket of buckets) check(bucket, caller, now, factor, about);
  };
}

/** Runs a request when it is its caller's turn, unless its client has gone by then. @throws Refusal `unavailable` */
export type InTurn = <T>(
  request: { name: OperationName; caller: Caller; gone: (left: () => void) => void },
  run: () => Promise<T>,
) => Promise<T>;

/**
 * Has each person run only a few at once of what takes long, in the order in which they came. Between two of a person that
 * begin lie some turns of the event loop, also where the first has ended by then: one may keep the process until it is done,
 * and the next come before others from the queue of connections, who are to be answered in between.
 */
export function takingTurns(): InTurn {
  const most = new Map<OperationName, number>();
  for (const [name, { atOnce }] of Object.entries(work) as [RateName, WorkRow][])
    if (atOnce !== undefined) for (const operation of operationsOf(name)) most.set(operation, atOnce);
  /** Of each person what runs, who waits, and from when the next may begin. */
  const persons = new Map<string, { running: number; waiting: (() => void)[]; free: Promise<void> }>();
  return async ({ name, caller, gone }, run) => {
    const atOnce = most.get(name);
    if (atOnce === undefined) return run();
    const id = caller.person.person_id;
    const own = persons.get(id) ?? { running: 0, waiting: [], free: Promise.resolve() };
    persons.set(id, own);
    if (own.running < atOnce) own.running++;
    else await new Promise<void>((resolve) => own.waiting.push(resolve));
    try {
      refuseGone(gone);
      const { free } = own;
      own.free = free.then(someTurns);
      await free;
      return await run();
    } finally {
      const next = own.waiting.shift();
      if (next) next();
      else own.running--;
      void own.free.then(() => {
        if (own.running === 0 && persons.get(id) === own) persons.delete(id);
      });
    }
  };
}

/** What waited for its turn need not begin where nobody waits for it any more. @throws Refusal `unavailable` */
export function refuseGone(gone: (left: () => void) => void): void {
  let left = false;
  gone(() => {
    left = true;
  });
  if (left)
    throw new Refusal('unavailable', 'The client has gone.', { hint: 'Try again.', retryAfter: 1, expected: true });
}

/** More than a request takes from its connection to its answer, also behind those of others: one is accepted in a turn. */
const TURNS = 50;

async function someTurns(): Promise<void> {
  for (let n = 0; n < TURNS; n++) await new Promise((resolve) => setImmediate(resolve));
}

const keyOf = (operation: string, moment: Moment): string =>
  moment === 'known' ? operation : `${operation} ${moment}`;

function check({ name, row, windows }: Bucket, caller: Caller, now: number, factor: number, about: About): void {
  const limit = limitOf(row, caller);
  if (limit === undefined) return;
  const count = windows.add(row.credential === undefined ? subjectOf(row, caller, about) : credentialId(caller), now);
  const most = Math.ceil(limit * factor);
  if (count <= most) return;
  throw rateLimited(name, msLeft(now, windows.ms), { limit: most, window_seconds: windows.ms / 1000 });
}

function limitOf(row: WorkRow, caller: Caller): number | undefined {
  if (row.credential !== undefined) return row.credential;
  return caller.kind === 'AG' && row.agents === undefined ? row.seat : row.person;
}

function subjectOf(row: WorkRow, caller: Caller, about: About): string {
  if (caller.kind === 'AG' && row.agents === undefined) return caller.seat.id;
  const person = caller.person.person_id;
  return row.about === 'member' ? `${person} ${about['board']} ${about['member']}` : person;
}

function credentialId(caller: Caller): string {
  switch (caller.kind) {
    case 'PK':
      return caller.key.key_id;
    case 'BR':
      return caller.session.session_id;
    case 'AG':
      return caller.seat.id;
    case 'DG':
      return caller.delegation.delegation_id;
    case 'PC':
      return caller.proof.proof_id;
  }
}
