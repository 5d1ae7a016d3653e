/** Join codes: making, listing and revoking them. */
import { Refusal } from '../../contract/errors.ts';
import { reservedHandles } from '../../contract/ids.ts';
import { writeJoinLine } from '../../contract/join-line.ts';
import type { Body } from '../../contract/types.ts';
import { actingOn } from '../access/acting.ts';
import { onBoard, type Place } from '../access/board-access.ts';
import { type Acting, record } from '../boards/acting.steps.ts';
import { codeBoard, parseRoles } from '../boards/boards.store.ts';
import { requirePermission } from '../boards/policy.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { activeHuman } from '../members/memberships.store.ts';
import type { Caller } from '../operation/caller.ts';
import { requireRoom } from '../operation/refusals.rules.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { holderOfHandle, type PersonRow, personByHandle } from '../people/people.store.ts';
import { requireRole } from '../seats/seat.steps.ts';
import { cut } from '../text/cut.ts';
import { newId } from '../text/ids.ts';
import { newShortCode } from '../text/short-code.ts';
import { timestamp } from '../text/time.ts';
import { codeView, codeViews } from '../views/join-code.ts';
import { revokeCodes } from './join-codes.steps.ts';
import { codeById, countWorkingCodes, insertCode, type JoinCodeRow, listCodeRows } from './join-codes.store.ts';

/** How long a code is listed after its end. */
const LISTED_MS = 30 * 86_400_000;

type RequestBody = Body<'createJoinCode'>;

/** The code is drawn anew when the transaction runs again because another code has the same digest. */
export const createJoinCode: WriteCase<'createJoinCode'> = {
  async run(tx, caller, { params, body, deps: { root, address } }) {
    if (caller.kind === 'AG' && body.guest !== undefined) throw guestCodeByPerson();
    const { place, acting } = await actingOn(tx, caller, params.board);
    requireInvite(caller, place);
    requireRole(place.board, body.role);
    const guest = body.guest === undefined ? null : await requireGuest(tx, place, body.guest);
    requireRoom(await countWorkingCodes(tx, codeBoard(place.board)), {
      limit: 200,
      what: 'working join codes on this board',
      hint: `service code list --board ${place.board.name} shows them; revoke those that are no longer needed.`,
    });
    const code = newShortCode();
    const row = newCode(acting, body, guest?.id ?? null, root.digest(code));
    await insertCode(tx, row);
    await recordCode(acting, row);
    const line = { board: place.board.name, origin: address.baseUrl(), role: body.guest ? 'guest' : body.role, code };
    return { answer: { ...(await codeView(tx, place, row)), code, join_line: writeJoinLine(line) } };
  },
};

const guestCodeByPerson = (): Refusal =>
  new Refusal('human_token_required', 'Only a person makes codes for guests.', {
    hint: 'Ask your person to run: service code guest HANDLE --board BOARD',
  });

/** Agents make and see codes by a grant of their role. */
function requireInvite(caller: Caller, { board, member }: Place): void {
  if (caller.kind === 'AG') requirePermission(parseRoles(board)[member.role ?? ''], 'invite');
}

/** The guest a handle is of already; null: it is free. @throws Refusal `handle_taken`, `already_on_board`. */
async function requireGuest(tx: WriteTx, { board }: Place, handle: string): Promise<PersonRow | null> {
  const person = await personByHandle(tx, handle);
  if (person?.server_role !== 'guest') {
    const free = !reservedHandles.includes(handle) && (await holderOfHandle(tx, handle)) === undefined;
    if (free) return null;
    throw new Refusal('handle_taken', `The handle ${handle} is not free for a guest.`, {
      hint: person
        ? `They are a member of this server, so add them: service board add ${handle} --board ${board.name}`
        : 'Choose another handle; handles stay reserved for the people who had them.',
    });
  }
  if ((await activeHuman(tx, board.id, person.id)) === undefined) return person;
  throw new Refusal('already_on_board', `${handle} is on ${board.name} already.`, {
    hint: `service board people --board ${board.name} shows who is on it.`,
  });
}

function newCode(acting: Acting, body: RequestBody, guestId: string | null, digest: Buffer): JoinCodeRow {
  const { tx, board, member } = acting;
  const { role, guest, ttl_seconds } = body;
  return {
    id: newId('jc', tx.now),
    board_id: board.id,
    digest,
    kind: guest === undefined ? 'pairing' : 'guest',
    role,
    guest_handle: guest ?? null,
    guest_person_id: guestId,
    maker_member_id: member.id,
    maker_person_id: member.person_id,
    created_at: tx.now,
    expires_at: tx.now + ttl_seconds * 1000,
    revoked_at: null,
    used_at: null,
    used_key_id: null,
    used_member_id: null,
    uses: 0,
    last_used_at: null,
  };
}

async function recordCode(acting: Acting, code: JoinCodeRow): Promise<void> {
  const guest =
    code.kind === 'guest' ? { kind: 'guest', guest: code.guest_handle, guest_id: code.guest_person_id } : {};
  const data = { join_code_id: code.id, role: code.role, expires_at: timestamp(code.expires_at), ...guest };
  await record(acting, 'joincode.created', data);
}

export const listJoinCodes: ReadCase<'listJoinCodes'>['run'] = async (tx, caller, { params, query }) => {
  const place = await onBoard(tx, caller, params.board);
  requireInvite(caller, place);
  const rows = await listCodeRows(tx, {
    on: codeBoard(place.board),
    ...(caller.kind === 'AG' ? { maker: place.member.id } : {}),
    ...(query.state === 'all' ? { endedAfter: tx.now - LISTED_MS } : {}),
    after: query.after,
    limit: query.limit + 1,
  });
  const { page, next_after } = cut(rows, query.limit, ({ id }) => id);
  return { join_codes: await codeViews(tx, place, page), next_after };
};

/** It only takes away, so it works on an archive too, and for an agent whose role may no longer make codes. */
export const revokeJoinCode: WriteCase<'revokeJoinCode'> = {
  async run(tx, caller, { params }) {
    const { place, acting } = await actingOn(tx, caller, params.board);
    const code = await codeById(tx, params.code_id);
    if (code?.board_id !== place.board.id) {
      throw new Refusal('join_code_not_found', 'There is no such join code on this board.', {
        hint: `service code list --all --board ${place.board.name} shows them.`,
      });
    }
    if (caller.kind === 'AG' && code.maker_member_id !== place.member.id) {
      throw new Refusal('forbidden', 'An agent revokes only the codes it made itself.', {
        hint: `Ask your person to run: service code revoke ${code.id} --board ${place.board.name}`,
      });
    }
    await revokeCodes(acting, { ids: [code.id] });
    const now = (await codeById(tx, code.id)) ?? code;
    return { answer: await codeView(tx, place, now) };
  },
};
