/**
 * An endpoint credential: it is presented as a secret that its runtime made; the server keeps a keyed digest of it and what
 * it is bound to.
 */
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

/** Until when a proof is good: ten minutes, and no longer than the request and the key it hangs on. */
export const proofEnd = (now: number, requestEnd: number, keyEnd: number | null): number =>
  Math.min(now + PROOF_MS, requestEnd, keyEnd ?? Number.POSITIVE_INFINITY);
