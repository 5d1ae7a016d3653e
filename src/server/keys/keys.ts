/** A person's access keys: listing, making and revoking them. */
import type { WriteTx } from '../db/tx.ts';
import { revokeInvitesOf } from '../invites/invites.store.ts';
import type { Caller } from '../operation/caller.ts';
import { requireAdmin } from '../operation/terms.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { pairingsOfInvites } from '../pairing/endings.steps.ts';
import { personNotFound } from '../people/people.rules.ts';
import { lockPeople, personByHandle } from '../people/people.store.ts';
import { audit } from '../record/audit.steps.ts';
import { cutPage, pageFrom, readPageToken } from '../text/page-token.ts';
import { timestampOrNull } from '../text/time.ts';
import { keyView, keyViews } from '../views/key.ts';
import { personView } from '../views/person.ts';
import { endKey, keyNotFound, makeKey, mayRevoke } from './keys.steps.ts';
import { type AccessKeyRow, listKeyRows, lockKey } from './keys.store.ts';

export const listKeys: ReadCase<'listKeys'>['run'] = async (tx, caller, { query }) => {
  const self = query.person === undefined || query.person === caller.person.handle;
  if (!self) requireAdmin(caller.person, { may: "list somebody else's keys" });
  const person = await personByHandle(tx, query.person ?? caller.person.handle);
  if (!person) throw personNotFound();
  const filter = { personId: person.id, working: query.state === 'working' };
  const position = readPageToken(query.after);
  const rows = await listKeyRows(tx, filter, (keys) => pageFrom(keys, 'access_keys', position, query.limit));
  const { page, next_after } = cutPage(rows, query.limit);
  return {
    person: personView(person),
    keys: await keyViews(tx, page),
    current_key_id: caller.key.key_id,
    current_key_previous_use: timestampOrNull(caller.key.key_last_used_at),
    next_after,
  };
};

export const createKey: WriteCase<'createKey'> = {
  before: lockPeople,
  async run(tx, caller, { body, requestId, deps: { root } }) {
    const { row, token } = await makeKey(tx, root, {
      personId: caller.person.person_id,
      name: body.name,
      origin: 'created',
      ends: { at: tx.now + body.ttl_seconds * 1000 },
      parentKeyId: caller.key.key_id,
    });
    await audit(tx, { action: 'key.created', by: caller, target: row.id, requestId, details: { name: row.name } });
    return { answer: { ...(await keyView(tx, row)), token } };
  },
};

export const revokeKey: WriteCase<'revokeKey'> = {
  before: lockPeople,
  async run(tx, caller, { params, query, requestId }) {
    const row = await lockKey(tx, params.key);
    if (!row || !mayRevoke(caller, row.person_id)) throw keyNotFound();
    caller.shown.person = row.person_id;
    if (query.revoke_invites) await revokeInvites(tx, caller, row, requestId);
    if (row.revoked_at !== null) return { answer: await keyView(tx, row) };
    const warned = await endKey(tx, row, { by: caller, requestId });
    return { answer: { ...(await keyView(tx, { ...row, revoked_at: tx.now })), ...warned } };
  },
  async recheck(_tx, caller, { person: owner }) {
    if (owner !== undefined && !mayRevoke(caller, owner)) throw keyNotFound();
  },
};

async function revokeInvites(tx: WriteTx, by: Caller, key: AccessKeyRow, requestId: string): Promise<void> {
  const invites = await revokeInvitesOf(tx, { parent_key_id: key.id });
  await pairingsOfInvites(tx, invites);
  for (const id of invites) {
    await audit(tx, { action: 'invite.revoked', by, target: id, requestId, details: { with_key: key.id } });
  }
}
