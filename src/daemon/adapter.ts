/** The daemon's interface to agent programs; `src/harness` implements it from each program's profile. */
import type { HandoffId, TurnState } from './protocol.ts';
import type { SessionView } from './refs.ts';

export const capabilities = [
  'idle-hook',
  'queue',
  'turn-end-hook',
  'extension',
  'turn-start',
  'tool-boundary',
  'midturn-peer',
  'waiting-signal',
  'owner-door',
  'none',
] as const;
export type Capability = (typeof capabilities)[number];

export interface Limits {
  bundle_bytes: number;
  context_bytes: number;
}

/** The facts that decide whether the session can be given a handoff now. */
export interface CarrierState {
  turn: TurnState;
  /** A hook of the session is waiting for messages. */
  waiting: boolean;
  /** Its extension or runner is connected. */
  extension: boolean;
  /** Our module in its program is connected and submits prompts. */
  door: boolean;
}

type TargetRefusal = 'harness_target_absent' | 'harness_subagent_target' | 'harness_unavailable';

/**
 * Whether a program knows a session. `unstarted`: the program has stored nothing about it, because the session has had no
 * turn yet or does not exist.
 */
export type Target = 'ok' | 'unstarted' | { code: TargetRefusal };

/** One agent program. An adapter has no access to tokens, cursors or the journal. */
export interface Adapter {
  readonly harness: string;
  readonly capabilities: ReadonlySet<Capability>;
  /** The program reports a wake-up text as a prompt, which contains the handoff's id. */
  readonly wakeEcho: boolean;
  /** The program marks wake-up text as not written by the user. */
  readonly marksNotFromUser: boolean;
  readonly liveness: 'process' | 'connection';
  readonly limits: Limits;
  /** Tag names with a meaning to the program, which messages must not contain. */
  readonly reservedTags: readonly string[];
  /** Whether the session exists and is not a subagent's conversation. */
  check(session: SessionView): Promise<Target>;
  canHand(state: CarrierState): 'now' | 'later';
  /**
   * Adds a bundle to the program's own queue; waiting hooks and extensions get theirs over their connections instead.
   * `{ later }`: the program is locked or busy, which does not count as an attempt.
   */
  hand(
    session: SessionView,
    text: string,
    handoffId: HandoffId,
  ): Promise<'accepted' | 'accepted_confirmed' | { retry: string } | { later: string }>;
}

export interface Adapters {
  /** The adapter of a harness; one without a profile gets a generic adapter. */
  of(harness: string): Adapter;
}
