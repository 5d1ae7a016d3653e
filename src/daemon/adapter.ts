/** How the daemon and the programs that run agents meet: implemented for each program by its profile, in `src/harness`. */
import type { HandoffId, TurnState } from './protocol.ts';
import type { SessionView } from './refs.ts';

export type Capability =
  | 'idle-hook'
  | 'queue'
  | 'turn-end-hook'
  | 'extension'
  | 'turn-start'
  | 'tool-boundary'
  | 'midturn-peer'
  | 'waiting-signal'
  | 'owner-door'
  | 'none';

export interface Limits {
  bundle_bytes: number;
  context_bytes: number;
}

/** What decides whether a handoff can be given now. */
export interface CarrierState {
  turn: TurnState;
  /** A hook of the session waits. */
  waiting: boolean;
  /** Its extension or runner is connected. */
  extension: boolean;
  /** Its program takes prompts from us. */
  door: boolean;
}

type TargetRefusal = 'harness_target_absent' | 'harness_subagent_target' | 'harness_unavailable';

/**
 * Whether a program knows a session. `unstarted`: it has stored nothing of it yet, because the session has had no turn or
 * does not exist.
 */
export type Target = 'ok' | 'unstarted' | { code: TargetRefusal };

/** One program that runs agents, by its profile. Sees no token, no cursor, no journal. */
export interface Adapter {
  readonly harness: string;
  readonly capabilities: ReadonlySet<Capability>;
  /** A wake comes back as a prompt that holds the handoff's id. */
  readonly wakeEcho: boolean;
  /** What wakes a session is given to its agent as no word of its person. */
  readonly marksNotFromUser: boolean;
  readonly liveness: 'process' | 'connection';
  readonly limits: Limits;
  /** Further tags that mean something to it. */
  readonly reservedTags: readonly string[];
  /** Whether the session exists and is no sub-conversation. */
  check(session: SessionView): Promise<Target>;
  canHand(state: CarrierState): 'now' | 'later';
  /**
   * Gives a bundle to the program's own queue; waiting hooks and extensions are served over their connections instead.
   * `{ later }`: locked or busy, which counts as no attempt.
   */
  hand(
    session: SessionView,
    text: string,
    handoffId: HandoffId,
  ): Promise<'accepted' | 'accepted_confirmed' | { retry: string } | { later: string }>;
}

export interface Adapters {
  /** A harness without a profile gets what every program can do. */
  of(harness: string): Adapter;
}
