/** Makes an invite. Its secret is returned once, to the caller. */
import { inviteLink } from '../../contract/links.ts';
import type { Authorization, ServerInvite } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { requireRoom } from '../operation/refusals.rules.ts';
import { begin, requirePairingRoom } from '../pairing/begin.steps.ts';
import { audit } from '../record/audit.steps.ts';
import { newId, newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { timestamp } from '../text/time.ts';
import type { Address } from './address.rules.ts';
import { boardsOf, countActive, type InviteRow, insertInvite, type Pairing } from './invites.store.ts';
import { promptOf } from './prompt.rules.ts';

const MAX_ACTIVE = 200;
const ACTIVE = {
  limit: MAX_ACTIVE,
  what: 'active invites',
  hint: 'Revoke those that nobody will use: service invite list.',
  text: `You already have ${MAX_ACTIVE} active invites.`,
};

/** Where invites are made. */
interface Issuer {
  tx: WriteTx;
  root: RootKey;
  address: Address;
}

interface InviteTerms {
  ttl_seconds: number;
  boards: string[];
  pairing?: Pairing | undefined;
  suggested_handle?: string | undefined;
  /** On whose authority. */
  by: Pick<Caller, 'person' | 'key'>;
  requestId: string;
  /** The agent that asked for it, where its person allowed it to. */
  authorization?: Authorization;
}

/** Whether boards and people admit it is decided before. @throws Refusal `limit_reached`. */
export async function issueInvite({ tx, root, address }: Issuer, wanted: InviteTerms): Promise<ServerInvite> {
  await tx.serialise(`invites:${wanted.by.person.person_id}`);
  requireRoom(await countActive(tx, wanted.by.person.person_id), ACTIVE);
  if (wanted.pairing) await requirePairingRoom(tx, wanted.by.person.person_id);
  const secret = newSecret('invite');
  const row = newInvite(tx, wanted, root.digest(secret));
  await insertInvite(tx, row);
  const pairing = await beginPairing(tx, row, wanted);
  const { by, requestId } = wanted;
  const details = { boards: wanted.boards, expires_at: timestamp(row.expires_at) };
  await audit(tx, { action: 'invite.created', by, target: row.id, requestId, details });
  return shownInvite(row, secret, by.person.handle, address, pairing);
}

/** Creates the pairing request for the invited person and an agent of the issuer. */
async function beginPairing(tx: WriteTx, row: InviteRow, { pairing, by }: InviteTerms): Promise<string | undefined> {
  const [boardId] = boardsOf(row);
  if (!pairing || boardId === undefined) return undefined;
  return begin(tx, {
    boardId,
    inviterId: by.person.person_id,
    agentId: pairing.initiating_agent_id,
    work: pairing.work,
    to: { inviteId: row.id, expiresAt: row.expires_at },
  });
}

/** An invite with its secret, as link and prompt. @param pairing the request that waits for the invited person */
export const shownInvite = (
  row: InviteRow,
  secret: string,
  inviter: string,
  address: Address,
  pairing?: string,
): ServerInvite => ({
  id: row.id,
  invite: inviteLink(address.baseUrl(), secret),
  prompt: promptOf(address, row, secret, inviter),
  server_role: 'member',
  expires_at: timestamp(row.expires_at),
  boards: boardsOf(row),
  ...(row.suggested_handle === null ? {} : { suggested_handle: row.suggested_handle }),
  ...(pairing === undefined ? {} : { pairing_request_id: pairing }),
});

/** A person's own invite does not end with the key that is noted on it. */
const newInvite = (tx: WriteTx, { by, authorization, ...wanted }: InviteTerms, digest: Buffer): InviteRow => ({
  id: newId('inv', tx.now),
  digest,
  created_by: by.person.person_id,
  issuing_agent_id: authorization?.agent_id ?? null,
  parent_key_id: authorization?.parent_key_id ?? by.key.key_id,
  created_at: tx.now,
  expires_at: tx.now + wanted.ttl_seconds * 1000,
  boards: JSON.stringify(wanted.boards),
  pairing: wanted.pairing ? JSON.stringify(wanted.pairing) : null,
  suggested_handle: wanted.suggested_handle ?? null,
  revoked_at: null,
  used_at: null,
  used_by: null,
  authorization: authorization ? JSON.stringify(authorization) : null,
});
