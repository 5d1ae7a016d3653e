/** Seals an allowed invite's secret for the agent that asked for it, and opens it. */
import { DAY } from '../../contract/durations.ts';
import type { ServerInfo } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { type InviteRow, inviteById } from '../invites/invites.store.ts';
import type { RootKey } from '../text/root-key.ts';
import type { ApprovalRow } from './approvals.store.ts';
import { type Binding, COLLECT_LABEL, collectKeyHash, OUTCOME_LABEL, seal, unseal, VERSION } from './capsules.rules.ts';
import { type CapsuleRow, insertCapsule } from './capsules.store.ts';

interface Sealer {
  root: RootKey;
  info: ServerInfo;
}

type Owner = Pick<ApprovalRow, 'id' | 'person_id' | 'agent_id' | 'parent_key_id' | 'payload_hash' | 'invite_id'>;

const bindingOf = ({ info }: Sealer, row: Owner): Binding => ({
  server_id: info.server_id,
  approval_id: row.id,
  invite_id: row.invite_id ?? '',
  person_id: row.person_id,
  agent_id: row.agent_id,
  parent_key_id: row.parent_key_id,
  payload_hash: row.payload_hash,
});

/** Seals a secret for the requester of an executed approval, until the invite ends and a day at most. */
export async function sealSecret(tx: WriteTx, sealer: Sealer, row: Owner, secret: string): Promise<void> {
  const invite = await inviteById(tx, row.invite_id ?? '');
  if (!invite) throw new Error('the invite was just made');
  const key = sealer.root.derive(OUTCOME_LABEL, sealer.info.server_id);
  await insertCapsule(tx, {
    approval_id: row.id,
    invite_id: invite.id,
    version: VERSION,
    ...seal(key, bindingOf(sealer, row), secret),
    expires_at: Math.min(invite.expires_at, tx.now + DAY),
  });
}

/** The secret, if the capsule is whole, this approval's, and what the invite was made with; else null. */
export function openSecret(sealer: Sealer, row: Owner, capsule: CapsuleRow, invite: InviteRow): string | null {
  const { nonce, ciphertext, tag } = capsule;
  if (capsule.version !== VERSION || !nonce || !ciphertext || !tag || capsule.invite_id !== row.invite_id) return null;
  const key = sealer.root.derive(OUTCOME_LABEL, sealer.info.server_id);
  const secret = unseal(key, bindingOf(sealer, row), { nonce, ciphertext, tag });
  return secret !== null && sealer.root.digest(secret).equals(invite.digest) ? secret : null;
}

/** How the winner of a collection is known again. */
export const winnerHash = (sealer: Sealer, row: Owner, idempotencyKey: string): Buffer =>
  collectKeyHash(sealer.root.derive(COLLECT_LABEL, sealer.info.server_id), bindingOf(sealer, row), idempotencyKey);
