/** Putting an agent onto a board with its person's key. */
import { Refusal } from '../../contract/errors.ts';
import { reservedMemberNames } from '../../contract/ids.ts';
import type { Body } from '../../contract/types.ts';
import { parseRoles, setShowOwner } from '../boards/boards.store.ts';
import { firstFree } from '../boards/names.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import type { RootKey } from '../identity/root-key.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { append } from '../record/append.ts';
import { newId, newSecret } from '../text/ids.ts';
import { eventActor, memberView } from '../views/actors.ts';
import { boardView } from '../views/board.ts';
import { lockPlace, type Place, readerOf, requireActive } from '../views/place.ts';
import { agentTotals, insertMember, type MemberRow, memberByName, memberNames } from './members.store.ts';
import { agentNameBase } from './names.rules.ts';

const MAX_AGENTS = 500;
const MAX_AGENTS_OF_ONE = 100;

type Join = Body<'joinBoard'>;

export const joinBoard = (root: RootKey): WriteCase<'joinBoard'> => ({
  prepare(body) {
    if ((body.code === undefined) === (body.board === undefined))
      throw shape('code', 'give exactly one of code and board');
    if (body.code !== undefined && body.role !== undefined) throw shape('role', 'goes with board, not with code');
    if (body.board !== undefined && body.role === undefined) throw shape('role', 'is needed with board');
    return body;
  },

  async run(tx, caller, { body }) {
    // Codes are made by an operation of their own; as long as none was made, none works.
    if (body.board === undefined) throw codeInvalid();
    const place = await lockPlace(tx, caller, body.board);
    refuseGuest(caller);
    requireActive(place.board);
    const harness = harnessOf(body);
    if (!Object.hasOwn(parseRoles(place.board), body.role ?? '')) throw roleNotFound(place, body.role ?? '');
    const name = await claimName(tx, place, body, harness);
    const totals = await requireRoom(tx, place);

    const token = newSecret('seat');
    const agent = newSeat(
      tx,
      caller,
      place,
      { name, role: body.role ?? '', harness, token, session: body.session },
      root,
    );
    await insertMember(tx, agent);
    await recordJoin(tx, caller, place, agent);
    const ownersWithAgents = totals.own === 0 ? totals.people + 1 : totals.people;
    if (ownersWithAgents > 1 && place.board.show_owner === 0) {
      await setShowOwner(tx, place.board.id, true);
      place.board.show_owner = 1;
    }
    caller.shown.seat = agent.id;
    caller.shown.token_digest = agent.token_digest?.toString('hex') ?? '';
    const { person } = caller;
    const shown = {
      ...agent,
      handle: person.handle,
      display_name: person.display_name,
      server_role: person.server_role,
    };
    return {
      answer: {
        agent: memberView(shown, place, readerOf(place.member, place.policy), caller),
        token,
        board: await boardView(tx, caller, place),
      },
    };
  },
});

function refuseGuest(caller: Caller): void {
  if (caller.person.server_role !== 'guest') return;
  throw new Refusal('guest_not_allowed', 'Guests cannot add agents.', {
    hint: 'Ask a member of the board for a guest code: it brings an agent along.',
  });
}

const shape = (field: string, problem: string): Refusal =>
  new Refusal('invalid_request', `${field}: ${problem}.`, { details: { field, problem } });

function codeInvalid(): Refusal {
  return new Refusal('join_code_invalid', 'This join code does not work.', {
    hint: 'Ask for a new one; codes end when they are used up, revoked or expired.',
  });
}

function roleNotFound({ board }: Place, role: string): Refusal {
  const choices = Object.keys(parseRoles(board)).slice(0, 50);
  return new Refusal('role_not_found', `The board has no role ${role}.`, {
    hint: `Its roles: ${choices.join(', ')}.`,
    details: { target: role, choices },
  });
}

/** The harness as given, else the session's prefix. @throws Refusal 422 when they contradict each other. */
function harnessOf(body: Join): string | null {
  const prefix = body.session?.split(':')[0];
  if (prefix !== undefined && body.harness !== undefined && prefix !== body.harness) {
    throw new Refusal('invalid_request', 'The session does not belong to this harness.', {
      status: 422,
      hint: 'A session is written <harness>:<id>.',
      details: { field: 'session' },
    });
  }
  return body.harness ?? prefix ?? null;
}

async function claimName(tx: WriteTx, place: Place, body: Join, harness: string | null): Promise<string> {
  if (body.name === undefined) {
    const base = agentNameBase(place.policy.show_harness, harness, body.role ?? '');
    const taken = await memberNames(tx, place.board.id, base);
    return firstFree(base, new Set([...taken, ...reservedMemberNames]), 40, !place.policy.show_harness);
  }
  const taken =
    reservedMemberNames.includes(body.name) || (await memberByName(tx, place.board.id, body.name)) !== undefined;
  if (taken) {
    throw new Refusal('name_taken', `The name ${body.name} is taken on ${place.board.name}.`, {
      hint: 'Choose another name; members that left keep theirs.',
    });
  }
  return body.name;
}

async function requireRoom(tx: WriteTx, place: Place) {
  const totals = await agentTotals(tx, place.board.id, place.member.person_id);
  if (totals.agents >= MAX_AGENTS) throw full('agents on this board', MAX_AGENTS);
  if (totals.own >= MAX_AGENTS_OF_ONE) throw full('your agents on this board', MAX_AGENTS_OF_ONE);
  return totals;
}

const full = (what: string, limit: number): Refusal =>
  new Refusal('limit_reached', `There are already ${limit} ${what}.`, {
    hint: 'Remove agents that are no longer used.',
    details: { what, limit },
  });

interface Seat {
  name: string;
  role: string;
  harness: string | null;
  token: string;
  session: string | undefined;
}

function newSeat(tx: WriteTx, caller: Caller, { board }: Place, seat: Seat, root: RootKey): MemberRow {
  return {
    id: newId('mem', tx.now),
    board_id: board.id,
    name: seat.name,
    kind: 'agent',
    person_id: caller.person.person_id,
    role: seat.role,
    harness: seat.harness,
    access: null,
    status: 'active',
    first_joined_at: tx.now,
    joined_at: tx.now,
    removed_at: null,
    removed_by: null,
    token_digest: root.digest(seat.token),
    key_id: caller.key.key_id,
    session_digest: seat.session === undefined ? null : root.digest(seat.session),
    delivery_mode: 'focused',
    delivery_revision: 0,
    midturn_policy: null,
    sent_count: 0,
    sent_everyone_count: 0,
    // Its inbox starts empty: the position is the number of its own `member.joined`.
    read_up_to: board.head_seq + 1,
    read_count: board.message_count,
    read_everyone_count: board.everyone_count,
    read_sent_count: 0,
    read_sent_everyone_count: 0,
  };
}

async function recordJoin(tx: WriteTx, caller: Caller, { board, member }: Place, agent: MemberRow): Promise<void> {
  await append(tx, board, {
    type: 'member.joined',
    actor: eventActor(member, caller.person.handle),
    data: {
      member_id: agent.id,
      name: agent.name,
      kind: 'agent',
      role: agent.role,
      owner: caller.person.handle,
      owner_id: caller.person.person_id,
      harness: agent.harness,
      access: null,
      join_code_id: null,
    },
  });
}
