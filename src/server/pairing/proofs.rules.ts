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
export type ProofState = 'none' | 'working' | 'expired' | 'suspended' | 'revoked';

export const proofTriggers = [
  /** Its secret comes for the very binding it was made for; the first time that makes it. */
  'present',
  /** Its secret comes for another request, side, key, seat or session. */
  'present_elsewhere',
  /** Another secret comes for the same endpoint. */
  'other_secret',
  'clock',
  /** Either side has another endpoint. */
  'replaced',
  /** The request ended. */
  'closed',
  /** Its seat, key, person or membership ended. */
  'ended',
  'archived',
  'restored',
  /** It is shown for reading, accepting or verifying. */
  'use',
] as const;
export type ProofTrigger = (typeof proofTriggers)[number];

type ProofCell = { next: ProofState } | { refused: ErrorCode };

const to = (next: ProofState): ProofCell => ({ next });
const changed: ProofCell = { refused: 'pairing_changed' };
const dead: ProofCell = { refused: 'unauthorized' };
const archived: ProofCell = { refused: 'board_archived' };

/** What each trigger makes of a credential. */
export const proofMachine: Readonly<Record<ProofState, Readonly<Record<ProofTrigger, ProofCell>>>> = {
  none: {
    present: to('working'),
    present_elsewhere: to('working'),
    other_secret: to('none'),
    clock: to('none'),
    replaced: to('none'),
    closed: to('none'),
    ended: to('none'),
    archived: to('none'),
    restored: to('none'),
    use: dead,
  },
  working: {
    present: to('working'),
    present_elsewhere: changed,
    other_secret: to('revoked'),
    clock: to('expired'),
    replaced: to('revoked'),
    closed: to('revoked'),
    ended: to('revoked'),
    archived: to('suspended'),
    restored: to('working'),
    use: to('working'),
  },
  expired: {
    // Armed again for ten minutes: seat, key, session and generation are looked at before.
    present: to('working'),
    present_elsewhere: changed,
    other_secret: to('revoked'),
    clock: to('expired'),
    replaced: to('revoked'),
    closed: to('revoked'),
    ended: to('revoked'),
    archived: to('expired'),
    restored: to('expired'),
    use: dead,
  },
  suspended: {
    present: archived,
    present_elsewhere: archived,
    other_secret: archived,
    clock: to('expired'),
    replaced: archived,
    closed: to('revoked'),
    ended: to('revoked'),
    archived: to('suspended'),
    restored: to('working'),
    use: dead,
  },
  revoked: {
    present: changed,
    present_elsewhere: changed,
    other_secret: to('revoked'),
    clock: to('revoked'),
    replaced: to('revoked'),
    closed: to('revoked'),
    ended: to('revoked'),
    archived: to('revoked'),
    restored: to('revoked'),
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
