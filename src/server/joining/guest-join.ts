/** Joins one board as a guest: one code and one transaction make person, key, membership and agent. */
import type { Answer, Body } from '../../contract/types.ts';
import { requirePlace } from '../access/board-access.ts';
import { parsePolicy } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { findKey } from '../keys/credentials.store.ts';
import { IDLE_SECONDS, makeKey, requireUnusedToken } from '../keys/keys.steps.ts';
import { type AccessKeyRow, keyOf } from '../keys/keys.store.ts';
import { memberById } from '../members/members.store.ts';
import { addMembership } from '../members/membership.steps.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { authenticate, type KeyCaller, keyWorks } from '../operation/caller.ts';
import { requireActive } from '../operation/terms.ts';
import type { OpenCase, RequestSource } from '../operation/usecase.ts';
import { insertPerson, lockPeople } from '../people/people.store.ts';
import { audit } from '../record/audit.steps.ts';
import { makeSeat, requireSeat, rotateToken } from '../seats/seat.steps.ts';
import { newId } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { keyView } from '../views/key.ts';
import { callerView } from '../views/person.ts';
import { joinedView } from '../views/seat.ts';
import { archivedByCode, codeInvalid, codeWorks, type Found, findCode } from './code-validity.steps.ts';
import { harnessOf } from './join.rules.ts';
import type { Joined } from './join-by-delegation.steps.ts';
import { noteCodeUse } from './join-codes.store.ts';

/** How long a guest whose answer was lost may ask again. */
const REPEAT_MS = 600_000;

type RequestBody = Body<'joinAsGuest'>;

export const joinAsGuest: OpenCase<'joinAsGuest'> = {
  async run(tx, source, { body, requestId, deps: { root, info } }) {
    // Whether a handle is free is decided here.
    await lockPeople(tx);
    const found = await findCode(tx, root, body.code);
    if (!found) throw codeInvalid();
    const again = await repeated(tx, root, source, { found, body });
    if (again) return { answer: await answerOf(tx, info.server_id, again), status: 200 };
    if (found.code.guest_person_id !== null || found.code.kind !== 'guest' || !(await codeWorks(tx, found))) {
      throw codeInvalid();
    }
    requireActive(source, found.board, archivedByCode);
    if (body.client_token !== undefined) await requireUnusedToken(tx, root, body.client_token);
    const guest = await newGuest(tx, root, found, body);
    const { caller: by, key } = guest;
    const details = { origin: key.origin, join_code_id: found.code.id };
    await audit(tx, { action: 'key.created', by, target: key.id, requestId, details });
    return { answer: await answerOf(tx, info.server_id, guest) };
  },
};

interface JoinedGuest {
  caller: KeyCaller;
  key: AccessKeyRow;
  /** Null where the client brought its own. */
  keyToken: string | null;
  joined: Joined;
}

async function answerOf(tx: WriteTx, serverId: string, guest: JoinedGuest): Promise<Answer<'joinAsGuest'>> {
  const { caller, key, keyToken, joined } = guest;
  return {
    server_id: serverId,
    person: callerView(caller),
    key: { ...(await keyView(tx, key)), ...(keyToken === null ? {} : { token: keyToken }) },
    ...(await joinedView(tx, caller, joined)),
  };
}

async function newGuest(tx: WriteTx, root: RootKey, { board, code }: Found, body: RequestBody): Promise<JoinedGuest> {
  const plan = { role: code.role, name: body.name, harness: harnessOf({ harness: body.harness }), joinCodeId: code.id };
  const newcomer = { id: newId('hum', tx.now), handle: code.guest_handle ?? '', server_role: 'guest' as const };
  await requireSeat(tx, board, newcomer, plan);
  const person = await insertPerson(tx, newcomer);
  const { row: key, token } = await makeKey(tx, root, {
    personId: person.id,
    name: body.key_name,
    origin: 'guest_code',
    ends: { idleSeconds: IDLE_SECONDS },
    parentKeyId: null,
    token: body.client_token,
  });
  const member = await addMembership(tx, board, { person, join_code_id: code.id });
  const place = requirePlace({ board, member, policy: parsePolicy(board) });
  const caller = await callerOf(tx, root, token);
  const seat = await makeSeat(tx, root, { ...caller, ...place }, plan);
  await noteCodeUse(tx, code, { keyId: key.id, memberId: seat.row.id });
  return { caller, key, keyToken: body.client_token === undefined ? token : null, joined: { place, seat } };
}

/** The guest as a caller, as their later requests are read. */
const callerOf = async (tx: WriteTx, root: RootKey, token: string): Promise<KeyCaller> =>
  (await authenticate(tx, { kind: 'PK', digest: root.digest(token), token })) as KeyCaller;

/**
 * A guest who did not hear the answer asks again with the code and the key they brought: as long as key, guest and seat
 * work, the seat gets another token. Nobody is told what else stands in the way.
 * @returns null when it is no repeat. @throws Refusal `board_archived`.
 */
async function repeated(
  tx: WriteTx,
  root: RootKey,
  source: RequestSource,
  { found, body }: { found: Found; body: RequestBody },
): Promise<JoinedGuest | null> {
  const { code, board } = found;
  const { client_token: token } = body;
  if (token === undefined || code.used_at === null || tx.now - code.used_at >= REPEAT_MS) return null;
  const row = await findKey(tx, root.digest(token));
  if (!row || row.key_id !== code.used_key_id || !keyWorks(row, tx.now)) return null;
  const member = await activeHuman(tx, board.id, row.person_id);
  const seat = await memberById(tx, code.used_member_id ?? '');
  if (!member || seat?.status !== 'active' || board.lifecycle === 'deleted') return null;
  requireActive(source, board, archivedByCode);
  const key = await keyOf(tx, row.person_id, row.key_id);
  if (!key) throw new Error('a key without a row');
  return {
    caller: await callerOf(tx, root, token),
    key,
    keyToken: null,
    joined: {
      place: requirePlace({ board, member, policy: parsePolicy(board) }),
      seat: await rotateToken(tx, root, seat, seat.key_id ?? key.id),
    },
  };
}
