/**
 * Sealing an invite's secret for the agent that asked for it: AES-256-GCM under a key derived from the server's root key, which
 * is in no database. What it belongs to is authenticated with it, so that no capsule opens for another approval.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../../contract/canonical.ts';

export const OUTCOME_LABEL = 'service/approval-outcome/v1';
export const COLLECT_LABEL = 'service/approval-collect-key/v1';
export const VERSION = 1;

/** What a capsule belongs to. */
export interface Binding {
  server_id: string;
  approval_id: string;
  invite_id: string;
  person_id: string;
  agent_id: string;
  parent_key_id: string;
  payload_hash: string;
}

interface Sealed {
  nonce: Buffer;
  ciphertext: Buffer;
  tag: Buffer;
}

const aadOf = (of: Binding): Buffer =>
  Buffer.from(
    canonicalJson([
      'service-approval-outcome-v1',
      of.server_id,
      of.approval_id,
      of.invite_id,
      of.person_id,
      of.agent_id,
      of.parent_key_id,
      of.payload_hash,
    ]),
    'utf8',
  );

/** @param nonce 12 bytes that this key has never seen. */
export function seal(key: Buffer, of: Binding, secret: string, nonce: Buffer = randomBytes(12)): Sealed {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aadOf(of));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return { nonce, ciphertext, tag: cipher.getAuthTag() };
}

/** Null when anything differs. */
export function unseal(key: Buffer, of: Binding, { nonce, ciphertext, tag }: Sealed): string | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
    decipher.setAAD(aadOf(of)).setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** By what the winner of a collection is known again: the key of its request, bound to seat and approval. */
export const collectKeyHash = (key: Buffer, of: Omit<Binding, 'invite_id'>, idempotencyKey: string): Buffer =>
  createHmac('sha256', key)
    .update(canonicalJson([of.server_id, of.approval_id, of.agent_id, of.parent_key_id, idempotencyKey]), 'utf8')
    .digest();

/** Compared in constant time. */
export const sameHash = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
