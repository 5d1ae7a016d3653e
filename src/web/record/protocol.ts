/** Messages between the page and the worker that verifies a record. */
import type { ChainPoint, Problem } from '../../contract/chain.ts';
import type { BoardEvent } from '../../contract/types.ts';

export type ToVerifier =
  | { type: 'start'; board: string; id: string; pinned: ChainPoint | null }
  /** There are new events. */
  | { type: 'more' };

export interface Checked {
  /** The number of the last event that was checked. */
  events: number;
  /** The last event up to which the chain is valid. */
  head: ChainPoint | null;
  /** The first error in the chain. */
  problem: Problem | null;
  withheld: number;
}

/** The id of a member; who is not on the board, such as the server, has none. */
export const actorKey = (actor: BoardEvent['actor'] | undefined): string =>
  actor?.member_id ?? `${actor?.kind ?? 'system'} ${actor?.name ?? ''}`;

/** Event counts. `days`: by the start of a day in milliseconds, then by actor. `actors`: by {@link actorKey}. */
export interface Counts {
  days: Record<string, Record<string, number>>;
  actors: Record<string, { name: string; kind: 'agent' | 'human' | 'system'; owner: string | null }>;
  types: Record<string, number>;
  /** Names of files by their ids. */
  files: Record<string, string>;
}

export type FromVerifier =
  | { type: 'progress'; checked: number; head: number }
  | { type: 'checked'; checked: Checked; counts: Counts }
  | { type: 'failed'; code: string; message: string; hint: string };
