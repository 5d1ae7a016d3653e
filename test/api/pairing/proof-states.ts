/** The states of an endpoint credential as a table: what each trigger makes of it, for the tests to walk. */
import type { ErrorCode } from '../../../src/contract/errors.ts';
import type { ProofRow } from '../../../src/server/pairing/proofs.rules.ts';

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
