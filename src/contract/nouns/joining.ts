/** Join codes, and joining a board with or without one. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { byMember, del, get, type OperationRow, orContradicts, post } from '../operation.ts';
import {
  actor,
  boardName,
  clientToken,
  handle,
  id,
  keyName,
  memberName,
  nullsLeftOut,
  oneLine,
  person,
  queryInt,
  roleName,
  time,
} from '../schemas.ts';
import { usualRole } from '../values.ts';
import { board, createBoardBody } from './boards.ts';
import { accessKey } from './keys.ts';
import { memberRecord } from './members.ts';

export const createJoinCodeBody = z
  .strictObject({
    role: roleName,
    ttl_seconds: z.int().min(60).max(604_800).default(86_400),
    guest: handle.optional(),
  })
  .register(nullsLeftOut);

export const joinCode = z.strictObject({
  id: id('jc'),
  kind: z.enum(['pairing', 'guest']),
  guest: handle.nullable(),
  board: boardName,
  role: roleName,
  expires_at: time,
  created_at: time,
  created_by: actor,
  revoked_at: time.nullable(),
  state: z.enum(['working', 'used', 'revoked', 'expired']),
  uses: z.int().min(0),
  last_used_at: time.nullable(),
});

/** The one answer that shows the code. */
export const newJoinCode = joinCode.extend({ code: z.string().regex(patterns.shortCode), join_line: z.string() });

export const listJoinCodesQuery = z.object({
  state: z.enum(['working', 'all']).default('working'),
  limit: queryInt(1, 200).default(50),
  after: id('jc').optional(),
});

export const joinCodeList = z.strictObject({ join_codes: z.array(joinCode), next_after: id('jc').nullable() });

const harness = oneLine(40, 1);
const session = z.string().regex(patterns.session, 'must be written <harness>:<id>');

/** Which fields go together depends on the credential, so the use case decides it. */
export const joinBody = z
  .strictObject({
    code: z.string().max(40).optional(),
    board: z.string().max(80).optional(),
    role: roleName.optional(),
    name: memberName.optional(),
    harness: harness.optional(),
    session: session.optional(),
  })
  .register(nullsLeftOut);

export const joinResult = z.strictObject({
  agent: memberRecord,
  token: z.string().regex(patterns.agentToken),
  board,
  reused: z.literal(true).optional(),
});

/** A board as a person creates it, with the seat for the session it is created for. */
export const delegatedBoardBody = createBoardBody
  .extend({
    session,
    harness,
    role: roleName.default(usualRole),
    agent_name: memberName.optional(),
  })
  .register(nullsLeftOut);

export const guestJoinBody = z
  .strictObject({
    code: z.string().max(40),
    key_name: keyName,
    name: memberName.optional(),
    harness: harness.optional(),
    client_token: clientToken.optional(),
  })
  .register(nullsLeftOut);

export const guestJoinResult = z.strictObject({
  server_id: id('srv'),
  person,
  /** The token is absent if the client sent its own. */
  key: accessKey.extend({ token: z.string().regex(patterns.accessKey).optional() }),
  agent: memberRecord,
  token: z.string().regex(patterns.agentToken),
  board,
});

export const about = 'Join codes, and coming onto a board.';

export const operations = {
  createJoinCode: {
    ...post('/v1/boards/{board}/join-codes', byMember, 'Make a code that brings sessions or one guest onto a board'),
    idempotency: 'S',
    ok: [201],
    archived: 'refused',
    guests: { cannot: 'make join codes' },
    rates: ['join_codes'],
    body: createJoinCodeBody,
    errors: [
      'human_token_required',
      'not_on_board',
      'handle_taken',
      'already_on_board',
      'limit_reached',
      'role_not_found',
    ],
    answer: newJoinCode,
  },
  listJoinCodes: {
    ...get('/v1/boards/{board}/join-codes', byMember, 'List join codes'),
    guests: { cannot: 'list join codes' },
    query: listJoinCodesQuery,
    errors: ['not_on_board'],
    answer: joinCodeList,
  },
  revokeJoinCode: {
    ...del('/v1/boards/{board}/join-codes/{code_id}', byMember, 'Revoke a join code'),
    guests: { cannot: 'revoke join codes' },
    params: z.object({ code_id: id('jc') }),
    errors: ['not_on_board', 'join_code_not_found'],
    answer: joinCode,
  },
  createDelegatedBoard: {
    ...post('/v1/delegations/boards', ['DG'], 'Create a board with a seat for a session'),
    idempotency: 'R',
    keyRequired: true,
    ok: [201],
    guests: { cannot: 'create boards' },
    rates: ['board_creation'],
    body: delegatedBoardBody,
    errors: [
      'board_creation_restricted',
      'board_archived',
      'board_name_taken',
      'name_taken',
      'seat_token_replaced',
      'role_not_found',
      'template_not_found',
    ],
    statuses: orContradicts,
    answer: joinResult,
  },
  joinBoard: {
    ...post('/v1/join', ['PK', 'DG'], 'Put an agent seat onto a board'),
    idempotency: { PK: 'R', DG: 'S' },
    ok: [201, 200],
    archived: 'refused',
    guests: {
      cannot: 'add agents',
      onBoard: true,
      hint: 'Ask a member of the board for a guest code: it brings an agent along.',
    },
    rates: ['join', 'join_code_failures'],
    body: joinBody,
    errors: [
      'not_on_board',
      'join_code_not_yours',
      'guest_code_not_for_members',
      'join_code_invalid',
      'name_taken',
      'seat_token_replaced',
      'limit_reached',
      'role_not_found',
    ],
    statuses: orContradicts,
    answer: joinResult,
  },
  joinAsGuest: {
    ...post('/v1/guest-join', [], 'Come onto one board as a guest, by a code'),
    kind: 'open',
    idempotency: 'S',
    ok: [201, 200],
    archived: 'refused',
    rates: ['redeem'],
    body: guestJoinBody,
    errors: ['join_code_invalid', 'name_taken', 'limit_reached'],
    answer: guestJoinResult,
  },
} as const satisfies Record<string, OperationRow>;
