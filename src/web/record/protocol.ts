/** What the page and the worker that checks a record tell each other. */
import type { ChainPoint, Problem } from '../../contract/chain.ts';

export type ToVerifier =
  | { type: 'start'; board: string; id: string; pinned: ChainPoint | null }
  /** There are new events. */
  | { type: 'more' };

export interface Checked {
  /** The number of the last event that was read. */
  events: number;
  /** The last event that fits the ones before it. */
  head: ChainPoint | null;
  /** The first thing that is wrong. */
  problem: Problem | null;
  withheld: number;
}

/** Who did how much, by the first millisecond of a day and the id of a member. */
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
