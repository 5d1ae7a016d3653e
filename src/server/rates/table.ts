/**
 * Every rate limit as data: over what time a bucket counts, and how much is too much for whom. Which operations it counts
 * stands in their rows (`rates`).
 */
import type { OperationRow } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';

type Row = (typeof operations)[OperationName];
/** What the rows name. */
export type RateName = Extract<Row, { rates: unknown }>['rates'][number];

/** What is counted before anybody is known to have a right, or where codes could be guessed: in force on every server. */
export interface AttemptRow {
  /** Counted are only attempts that end in an error: in any, or in one of these codes. Checked before the attempt. */
  failures?: 'any' | readonly string[];
  /** Attempts a minute: of one client address, of one person, on the whole server. */
  address?: number;
  person?: number;
  server?: number;
}

/** What somebody who is signed in may ask for: it stops a runaway program, not a busy one. */
export interface WorkRow {
  /** An hour instead of a minute. */
  hourly?: true;
  /** Only requests that stay open for news. */
  waiting?: true;
  /** Replays of a kept answer are not counted. */
  runsOnly?: true;
  /** So many of one person, with their agents, run at a time in a process, whatever the factor; others wait for their turn. Of reads with `ahead`. */
  atOnce?: number;
  /** Of a person, what is counted are their requests about the member whom the path names. */
  about?: 'member';
  /** Requests of one credential; of one person, with (`agents`) or without their agents; of one agent's seat. */
  credential?: number;
  person?: number;
  agents?: 'with their person';
  seat?: number;
}

export const attempts = {
  join: { address: 600 },
  join_code_failures: {
    failures: ['join_code_invalid', 'join_code_not_yours', 'guest_code_not_for_members'],
    person: 20,
  },
  redeem: { address: 10, server: 60 },
  sign_in_attempts: { address: 120, server: 600 },
  sign_in_failures: { failures: 'any', address: 20, server: 100 },
  machine_requests: { address: 10, server: 60 },
  machine_codes: { address: 10, person: 10, server: 60 },
  machine_collect: { address: 60, server: 600 },
} as const satisfies Partial<Record<RateName, AttemptRow>>;

/** Requests of one address a minute whose credential does not work, whatever they ask for. */
export const BAD_CREDENTIALS = 120;

export const work = {
  /** Every operation that is no GET. */
  writes: { credential: 600 },
  reads: { credential: 1200 },
  search: { credential: 60, atOnce: 2 },
  waits: { waiting: true, credential: 120 },
  posts: { runsOnly: true, seat: 60, person: 120 },
  reactions: { seat: 60, person: 60 },
  acks: { credential: 300 },
  uploads: { credential: 120 },
  join: { person: 60 },
  join_codes: { person: 60, agents: 'with their person' },
  login_codes: { person: 30 },
  board_creation: { hourly: true, person: 60 },
  /** Each keeps a handle for good, and is an event on all boards that the renamed person is or was on. */
  renames: { hourly: true, runsOnly: true, person: 20 },
  task_and_file_writes: { credential: 120 },
  lines: { about: 'member', seat: 30, person: 30 },
  admin_requests: { hourly: true, seat: 30 },
  admin_requests_of_person: { hourly: true, person: 60, agents: 'with their person' },
  decisions: { person: 120 },
  collections: { seat: 30 },
  pairing_requests: { hourly: true, person: 20, agents: 'with their person' },
  pairing_choices: { hourly: true, person: 20 },
  pairing_endpoints: { credential: 60 },
  pairing_proofs: { credential: 30 },
  presence: { seat: 60 },
} as const satisfies Partial<Record<RateName | 'writes', WorkRow>>;

// Each name has its row in one of the tables.
({ ...attempts, ...work }) satisfies Record<RateName, object>;

/** The operations that a bucket counts. */
export const operationsOf = (bucket: RateName | 'writes'): OperationName[] =>
  (Object.entries(operations) as [OperationName, OperationRow][])
    .filter(([, row]) => (bucket === 'writes' ? row.method !== 'GET' : row.rates?.includes(bucket)))
    .map(([name]) => name);
