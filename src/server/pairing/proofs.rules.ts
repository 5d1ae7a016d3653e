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

/** `suspended`: bound to something that is not live now, such as an archived board. */
export type ProofState = 'none' | 'working' | 'expired' | 'suspended' | 'revoked';

export const proofTriggers = [
  'select',
  'repeat',
  'other_token',
  'foreign_repeat',
  'clock',
  'replaced',
  'closed',
  'ended',
  'archived',
  'use',
] as const;
export type ProofTrigger = (typeof proofTriggers)[number];

/**
 * What a trigger makes of a credential.
 * - `select` makes the first for its side; `other_token` one with another secret for the same endpoint; `repeat` comes with the
 *   same secret for the very same binding, `foreign_repeat` with the same secret for another.
 * - `replaced`: either side's endpoint was; `closed`: the request ended; `ended`: seat, key, person or membership did.
 */
export type ProofCell = { next: ProofState } | { refused: ErrorCode };

const same = (state: ProofState): ProofCell => ({ next: state });
const changed: ProofCell = { refused: 'pairing_changed' };
const dead: ProofCell = { refused: 'unauthorized' };

export const proofMachine: Readonly<Record<ProofState, Readonly<Record<ProofTrigger, ProofCell>>>> = {
  none: {
    select: same('working'),
    repeat: same('working'),
    other_token: same('working'),
    foreign_repeat: same('working'),
    clock: same('none'),
    replaced: same('none'),
    closed: same('none'),
    ended: same('none'),
    archived: same('none'),
    use: dead,
  },
  working: {
    select: changed,
    repeat: same('working'),
    other_token: same('revoked'),
    foreign_repeat: changed,
    clock: same('expired'),
    replaced: same('revoked'),
    closed: same('revoked'),
    ended: same('revoked'),
    archived: same('suspended'),
    use: same('working'),
  },
  expired: {
    select: changed,
    // Armed again for ten minutes: seat, key, binding and generation are checked before.
    repeat: same('working'),
    other_token: same('revoked'),
    foreign_repeat: changed,
    clock: same('expired'),
    replaced: same('revoked'),
    closed: same('revoked'),
    ended: same('revoked'),
    archived: same('expired'),
    use: dead,
  },
  suspended: {
    select: { refused: 'board_archived' },
    repeat: { refused: 'board_archived' },
    other_token: { refused: 'board_archived' },
    foreign_repeat: { refused: 'board_archived' },
    clock: same('expired'),
    replaced: { refused: 'board_archived' },
    closed: same('revoked'),
    ended: same('revoked'),
    archived: same('suspended'),
    use: dead,
  },
  revoked: {
    select: same('revoked'),
    repeat: changed,
    other_token: same('revoked'),
    foreign_repeat: changed,
    clock: same('revoked'),
    replaced: same('revoked'),
    closed: same('revoked'),
    ended: same('revoked'),
    archived: same('revoked'),
    use: dead,
  },
};

/** What a credential is by its own row; whether what it is bound to is live is asked where it is used. */
export function proofState(row: Pick<ProofRow, 'revoked_at' | 'expires_at'> | undefined, now: number): ProofState {
  if (!row) return 'none';
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at <= now ? 'expired' : 'working';
}

/** Until when a proof is good: ten minutes, and no longer than the request and the key it hangs on. */
export const proofEnd = (now: number, requestEnd: number, keyEnd: number | null): number =>
  Math.min(now + PROOF_MS, requestEnd, keyEnd ?? Number.POSITIVE_INFINITY);
