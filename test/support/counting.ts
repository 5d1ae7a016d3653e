/** Counts what a piece of work costs the database: transactions, statements in them, and how often Postgres is waited for. */
import pg from 'pg';
import { Refusal } from '../../src/contract/errors.ts';
import type { ReadTx, WriteTx } from '../../src/server/db/tx.ts';
import type { TestServer } from './server.ts';

export interface Cost {
  reads: number;
  writes: number;
  readStatements: number;
  writeStatements: number;
  /** To Postgres, where they are watched. */
  roundTrips: number;
  /** Statements that Postgres was sent, where they are watched. */
  sent: number;
}

const STATEMENTS = new Set(['all', 'first', 'one', 'query', 'run', 'send', 'change']);
/** Those that answer how many rows they changed. */
const WRITING = new Set(['run', 'change']);

/** Runs `fn` and answers what this server's process asked of its database meanwhile. */
export async function costOf(server: TestServer, fn: () => Promise<unknown>): Promise<Cost> {
  const cost: Cost = { reads: 0, writes: 0, readStatements: 0, writeStatements: 0, roundTrips: 0, sent: 0 };
  const [tripsBefore, sentBefore] = [roundTrips, sent];
  const { db } = server;
  const { read, write } = db;
  db.read = (work, allows) => {
    cost.reads++;
    return read.call(db, (tx) => work(counted(tx, () => cost.readStatements++)), allows) as never;
  };
  db.write = (work, allows) => {
    cost.writes++;
    const count = () => cost.writeStatements++;
    return write.call(db, (tx) => work(counted(tx as ReadTx, count) as WriteTx), allows) as never;
  };
  try {
    await fn();
  } finally {
    Object.assign(db, { read, write });
  }
  cost.roundTrips = roundTrips - tripsBefore;
  cost.sent = sent - sentBefore;
  return cost;
}

let roundTrips = 0;
let sent = 0;
/** Statements that Postgres owes an answer. */
let unanswered = 0;

/**
 * Watches the connections of the pools of Postgres until the returned function is called. A round trip is what is asked on one while
 * it owes no answer: all that is pipelined behind it belongs to it.
 */
export function watchRoundTrips(): () => void {
  const { query } = pg.Client.prototype;
  const owed = new WeakMap<pg.Client, number>();
  pg.Client.prototype.query = function (this: pg.Client & Connected, ...args: unknown[]) {
    const answer = Reflect.apply(query, this, args) as unknown;
    if (this.connectionParameters.application_name === 'service' && answer instanceof Promise) {
      sent++;
      const before = owed.get(this) ?? 0;
      if (before === 0) roundTrips++;
      owed.set(this, before + 1);
      unanswered++;
      const answered = () => {
        owed.set(this, owed.get(this)! - 1);
        unanswered--;
      };
      answer.then(answered, answered);
    }
    return answer;
  } as never;
  return () => {
    pg.Client.prototype.query = query;
  };
}

/** What the types of the driver leave out. */
interface Connected {
  connectionParameters: { application_name?: string };
}

/** What a request waits for at most; what the server does now and then by itself is further apart. */
const OF_A_REQUEST_MS = 250;

/** How often `leastCostOf` runs what it measures. */
export const TIMES = 5;

/** Between two transactions of one piece of work are fewer turns of the event loop. */
const QUIET_TURNS = 20;

/** Waits until nothing is asked of Postgres, where it is watched: what has begun before goes on as long as the machine takes. */
async function quiet(): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; turns++) {
    await new Promise(setImmediate);
    if (unanswered > 0) turns = 0;
  }
}

/**
 * The least of each in several times. What the server does by itself is held back meanwhile, and what it had begun before, as
 * to index what was posted or to ask what other processes wrote, is waited for.
 */
export async function leastCostOf(server: TestServer, fn: () => Promise<unknown>): Promise<Cost> {
  const release = server.clock.holdBack(OF_A_REQUEST_MS);
  const costs: Cost[] = [];
  try {
    await quiet();
    for (let n = 0; n < TIMES; n++) costs.push(await costOf(server, fn));
  } finally {
    release();
  }
  const least = (field: keyof Cost): number => Math.min(...costs.map((cost) => cost[field]));
  return {
    reads: least('reads'),
    writes: least('writes'),
    readStatements: least('readStatements'),
    writeStatements: least('writeStatements'),
    roundTrips: least('roundTrips'),
    sent: least('sent'),
  };
}

/** Runs `fn` and answers how many rows this server's process changed in writes that were refused after that. */
export async function changedAndRefused(server: TestServer, fn: () => Promise<unknown>): Promise<number> {
  let all = 0;
  const { db } = server;
  const { write } = db;
  db.write = (work, allows) =>
    write.call(
      db,
      async (tx) => {
        let changed = 0;
        const add = (answer: unknown) =>
          (answer as Promise<number>).then(
            (rows) => (changed += rows),
            () => {},
          );
        const noted = counted(tx as ReadTx, (name, answer) => void (WRITING.has(name) && add(answer))) as WriteTx;
        return work(noted).catch((error: unknown) => {
          if (error instanceof Refusal) all += changed;
          throw error;
        });
      },
      allows,
    ) as never;
  try {
    await fn();
  } finally {
    db.write = write;
  }
  return all;
}

/** The same transaction, which calls `count` for each statement, with what it answers. */
function counted<T extends ReadTx>(tx: T, count: (name: string, answer: unknown) => void): T {
  return new Proxy(tx, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const answer = value.apply(target, args) as unknown;
        if (STATEMENTS.has(String(name))) count(String(name), answer);
        return answer;
      };
    },
  });
}
