/** Redeeming an invite: a new person, their first key, and the boards that came with it. */
import { patterns } from '../../contract/ids.ts';
import { readInviteLink } from '../../contract/links.ts';
import type { Authorization } from '../../contract/types.ts';
import { eventActor } from '../access/acting.ts';
import { clearForInvites } from '../approvals/capsules.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { IDLE_SECONDS, makeKey, requireUnusedToken } from '../keys/keys.steps.ts';
import type { AccessKeyRow } from '../keys/keys.store.ts';
import { addMembership, requireRoomForPerson } from '../members/membership.steps.ts';
import { tellRedeemed } from '../notices/notices.steps.ts';
import type { OpenCase, ServerAddress } from '../operation/usecase.ts';
import { move } from '../pairing/move.steps.ts';
import { lockRequest, requestOfInvite } from '../pairing/requests.store.ts';
import { handleTaken, requireUsableHandle } from '../people/handles.rules.ts';
import { holderOfHandle, insertPerson, lockPeople, type PersonRow } from '../people/people.store.ts';
import { audit } from '../record/audit.steps.ts';
import { newId } from '../text/ids.ts';
import { receiptView } from '../views/invite.ts';
import { keyView } from '../views/key.ts';
import { personView } from '../views/person.ts';
import { isOwnOrigin } from './address.rules.ts';
import { findRedeemable, type Redeemable } from './authority.steps.ts';
import { insertReceipt, type ReceiptRow, setUsed } from './invites.store.ts';
import { inviteInvalid } from './refusals.rules.ts';

export const connectPerson: OpenCase<'connectPerson'> = {
  async run(tx, _source, { body, requestId, deps: { root, info, address } }) {
    requireUsableHandle(body.handle);
    await lockPeople(tx);
    const secret = secretOf(body.invite, address);
    const found = secret === null ? null : await findRedeemable(tx, root.digest(secret), true);
    if (!found) throw inviteInvalid();
    if ((await holderOfHandle(tx, body.handle)) !== undefined) throw handleTaken(body.handle);
    if (body.client_token !== undefined) await requireUnusedToken(tx, root, body.client_token);
    for (const { board } of found.boards) await requireRoomForPerson(tx, board);

    const id = newId('hum', tx.now);
    await setUsed(tx, found.invite.id, id);
    if (found.effect.clears) await clearForInvites(tx, [found.invite.id], found.effect.clears);
    const { handle, display_name = null } = body;
    const person = await insertPerson(tx, { id, handle, display_name, server_role: 'member' });
    const { row: key, token } = await makeKey(tx, root, {
      personId: person.id,
      name: body.key_name,
      origin: 'invite',
      ends: { idleSeconds: IDLE_SECONDS },
      parentKeyId: null,
      ...(body.client_token === undefined ? {} : { token: body.client_token }),
    });
    await bringOntoBoards(tx, found, person);
    const pairing = await redeemPairing(tx, found.invite.id, person.id);
    if (found.effect.tells) await tellRedeemed(tx, found.invite, person, pairing);
    const details = { person_id: person.id, handle };
    await audit(tx, { action: 'invite.redeemed', by: null, target: found.invite.id, requestId, details });
    const made = { ...details, name: key.name, origin: key.origin };
    await audit(tx, { action: 'key.created', by: null, target: key.id, requestId, details: made });
    const known = { server_id: info.server_id, person: personView(person), key: await keyView(tx, key) };
    if (body.client_token === undefined) return { answer: { ...known, key: { ...known.key, token } } };
    const receipt = await leaveReceipt(tx, found, person, key, pairing);
    const seen = new Set([...found.boards.map(({ board }) => board.id), ...(pairing === undefined ? [] : [pairing])]);
    return { status: 200, answer: { ...known, onboarding: receiptView(info.server_id, receipt, seen) } };
  },
};

/** The secret itself, or the one in a link of this server; null: neither. */
function secretOf(invite: string, address: ServerAddress): string | null {
  const text = invite.trim();
  if (patterns.invite.test(text)) return text;
  const link = readInviteLink(text);
  return link && isOwnOrigin(address, link.origin) ? link.secret : null;
}

async function bringOntoBoards(tx: WriteTx, { invite, issuer, boards }: Redeemable, person: PersonRow): Promise<void> {
  const authorization = invite.authorization === null ? null : (JSON.parse(invite.authorization) as Authorization);
  const why = authorization ? { authorization, action_kind: authorization.kind } : {};
  for (const { board, issuer: member } of boards) {
    await addMembership(tx, board, { person, actor: eventActor(member, issuer.handle), invite_id: invite.id, ...why });
  }
}

/** The newcomer is who the work was proposed to; answers the request, unless it was taken back before. */
async function redeemPairing(tx: WriteTx, inviteId: string, personId: string): Promise<string | undefined> {
  const row = await requestOfInvite(tx, inviteId);
  if (!row) return undefined;
  await lockRequest(tx, row.id);
  const held = await requestOfInvite(tx, inviteId);
  const moved = held && (await move(tx, held, 'redeem', { recipientId: personId }));
  return moved?.recipient_id === personId ? row.id : undefined;
}

async function leaveReceipt(
  tx: WriteTx,
  { invite, boards }: Redeemable,
  person: PersonRow,
  key: AccessKeyRow,
  pairing: string | undefined,
) {
  const row: ReceiptRow = {
    key_id: key.id,
    person_id: person.id,
    invite_id: invite.id,
    handle: person.handle,
    boards: JSON.stringify(boards.map(({ board }) => board.id)),
    pairing_request_id: pairing ?? null,
  };
  await insertReceipt(tx, row);
  return row;
}
