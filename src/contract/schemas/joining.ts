/** Join codes, and coming onto a board with one or without. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { board, createBoardBody, memberRecord } from './boards.ts';
import {
  actor,
  boardName,
  clientToken,
  handle,
  id,
  keyName,
  memberName,
  nullsLeftOut,
  person,
  queryInt,
  roleName,
  text,
  time,
} from './common.ts';
import { accessKey } from './keys.ts';

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

const harness = text(40, 1).optional();
const session = z.string().regex(patterns.session, 'must be written <harness>:<id>');

/** Which fields go together depends on the credential, so the use case decides it. */
export const joinBody = z
  .strictObject({
    code: z.string().max(40).optional(),
    board: z.string().max(80).optional(),
    role: roleName.optional(),
    name: memberName.optional(),
    harness,
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
    harness: text(40, 1),
    role: roleName.default('member'),
    agent_name: memberName.optional(),
  })
  .register(nullsLeftOut);

export const guestJoinBody = z
  .strictObject({
    code: z.string().max(40),
    key_name: keyName,
    name: memberName.optional(),
    harness,
    client_token: clientToken.optional(),
  })
  .register(nullsLeftOut);

export const guestJoinResult = z.strictObject({
  server_id: id('srv'),
  person,
  /** Without the token where the client brought its own. */
  key: accessKey.extend({ token: z.string().regex(patterns.accessKey).optional() }),
  agent: memberRecord,
  token: z.string().regex(patterns.agentToken),
  board,
});
