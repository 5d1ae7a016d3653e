/**
 * The states of an endpoint credential as a table. It is presented as a secret that its runtime made; the server keeps a keyed
 * digest of it and what it is bound to.
 */
import type { ErrorCode } from '../../contract/errors.ts';
import type { PairingSide } from '../../contract/types.ts';

/** How long a proof is good for after it was made or renewed, in milliseconds. */
export const PROOF_MS = 600_000;

export type ProofRow = {
  id: string;
  request_id: string;
  side: PairingSide;
  agent_id: string;
  key_id: string;
  binding: string;
  generation: number;
  verifier: Buffer;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
};

/** `suspended`: its board is archived. */
export type ProofState = (typeof states)[number];

type ProofOutcome = { next: ProofState } | { refused: ErrorCode };
type Outcome = ProofState | ProofOutcome;

const states = ['none', 'working', 'expired', 'suspended', 'revoked'] as const;
const changed: ProofOutcome = { refused: 'pairing_changed' };
const dead: ProofOutcome = { refused: 'unauthorized' };
const archived: ProofOutcome = { refused: 'board_archived' };

/** What each trigger makes of a credential, by its state in their order. */
const table = {
  /**
   * Its secret comes for the very binding it was made for; the first time that makes it. An expired one is armed again for
   * ten minutes: seat, key, session and generation are looked at before.
   */
  present: ['working', 'working', 'working', archived, changed],
  /** Its secret comes for another request, side, key, seat or session. */
  present_elsewhere: ['working', changed, changed, archived, changed],
  /** Another secret comes for the same endpoint. */
  other_secret: ['none', 'revoked', 'revoked', archived, 'revoked'],
  clock: ['none', 'expired', 'expired', 'expired', 'revoked'],
  /** Either side has another endpoint. */
  replaced: ['none', 'revoked', 'revoked', archived, 'revoked'],
  /** The request ended. */
  closed: ['none', 'revoked', 'revoked', 'revoked', 'revoked'],
  /** Its seat, key, person or membership ended. */
  ended: ['none', 'revoked', 'revoked', 'revoked', 'revoked'],
  archived: ['none', 'suspended', 'expired', 'suspended', 'revoked'],
  restored: ['none', 'working', 'expired', 'working', 'revoked'],
  /** It is shown for reading, accepting or verifying. */
  use: [dead, 'working', dead, dead, dead],
} satisfies Record<string, [Outcome, Outcome, Outcome, Outcome, Outcome]>;

export type ProofTrigger = keyof typeof table;
export const proofTriggers = Object.keys(table) as ProofTrigger[];

/** What a trigger leads to in a state. */
export function proofOutcome(state: ProofState, on: ProofTrigger): ProofOutcome {
  const outcome = table[on][states.indexOf(state)] as Outcome;
  return typeof outcome === 'string' ? { next: outcome } : outcome;
}

/** What a credential is by its own row; whether what it is bound to is live is asked where it is used. */
export function proofState(row: Pick<ProofRow, 'revoked_at' | 'expires_at'> | undefined, now: number): ProofState {
  if (!row) return 'none';
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at <= now ? 'expired' : 'working';
}

/** Until when a proof is good: ten minutes, and no longer than the request and the key it hangs on. */
export const proofEnd = (now: number, requestEnd: number, keyEnd: number | null): number =>
  Math.min(now + PROOF_MS, requestEnd, keyEnd ?? Number.POSITIVE_INFINITY);
