/** An admin invites one person to the server. */
import { Refusal } from '../../contract/errors.ts';
import { inviteLink } from '../../contract/invite-link.ts';
import type { Body } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { audit } from '../identity/audit.steps.ts';
import { refuseGuest, requireAdmin } from '../identity/people.rules.ts';
import type { RootKey } from '../identity/root-key.ts';
import type { Caller } from '../operation/caller.ts';
import type { ServerAddress, WriteCase } from '../operation/usecase.ts';
import { newId, newSecret } from '../text/ids.ts';
import { timestamp } from '../text/time.ts';
import { lockPlaceById, requireActive } from '../views/place.ts';
import { serverName } from './address.rules.ts';
import { isOwnSeat } from './authority.steps.ts';
import { countActive, type InviteRow, insertInvite } from './invites.store.ts';
import { promptOf } from './prompt.rules.ts';

const MAX_ACTIVE = 200;

type Wanted = Body<'createInvite'>;

export const createInvite = (root: RootKey, address: ServerAddress): WriteCase<'createInvite'> => ({
  async run(tx, caller, { body, requestId }) {
    refuseGuest(caller.person, 'invite people');
    requireAdmin(caller.person, 'invite people to this server');
    await tx.serialise(`invites:${caller.person.person_id}`);
    for (const id of [...body.boards].sort()) requireActive((await lockPlaceById(tx, caller, id)).board);
    if (body.pairing) await requirePairable(tx, caller, body.boards, body.pairing);
    await requireRoom(tx, caller);

    const secret = newSecret('invite');
    const row = newInvite(tx, caller, body, root.digest(secret));
    await insertInvite(tx, row);
    await audit(tx, {
      action: 'invite.created',
      by: caller,
      target: row.id,
      requestId,
      details: { boards: body.boards, expires_at: timestamp(row.expires_at) },
    });
    return {
      answer: {
        id: row.id,
        invite: inviteLink(address.baseUrl(), secret),
        prompt: promptOf({
          baseUrl: address.baseUrl(),
          serverName: serverName(address),
          secret,
          inviter: caller.person.handle,
          suggestedHandle: row.suggested_handle,
          expiresAt: row.expires_at,
        }),
        server_role: 'member',
        expires_at: timestamp(row.expires_at),
        boards: body.boards,
        ...(row.suggested_handle === null ? {} : { suggested_handle: row.suggested_handle }),
      },
    };
  },
});

/** @throws Refusal `invalid_request` (422), `pairing_not_found`. */
async function requirePairable(
  tx: WriteTx,
  caller: Caller,
  boards: string[],
  { initiating_agent_id }: NonNullable<Wanted['pairing']>,
): Promise<void> {
  if (boards.length !== 1) {
    throw new Refusal('invalid_request', 'Work together begins on exactly one board.', {
      status: 422,
      hint: 'Name one board.',
      details: { field: 'pairing', problem: 'needs exactly one board' },
    });
  }
  if (await isOwnSeat(tx, initiating_agent_id, caller.person.person_id, boards[0])) return;
  throw new Refusal('pairing_not_found', 'You have no such active agent on this board.', {
    hint: 'service agents shows your agents and their boards.',
  });
}

async function requireRoom(tx: WriteTx, caller: Caller): Promise<void> {
  if ((await countActive(tx, caller.person.person_id)) < MAX_ACTIVE) return;
  throw new Refusal('limit_reached', `You already have ${MAX_ACTIVE} active invites.`, {
    hint: 'Revoke those that nobody will use: service invite list.',
    details: { what: 'active invites', limit: MAX_ACTIVE },
  });
}

/** The issuing key is noted as where the invite came from; the invite does not end with it. */
const newInvite = (tx: WriteTx, caller: Caller, body: Wanted, digest: Buffer): InviteRow => ({
  id: newId('inv', tx.now),
  digest,
  created_by: caller.person.person_id,
  issuing_agent_id: null,
  parent_key_id: caller.key.key_id,
  created_at: tx.now,
  expires_at: tx.now + body.ttl_seconds * 1000,
  boards: JSON.stringify(body.boards),
  pairing: body.pairing ? JSON.stringify(body.pairing) : null,
  suggested_handle: body.suggested_handle ?? null,
  revoked_at: null,
  used_at: null,
  used_by: null,
});
