/** The event log and the frames of the live stream. */
import { z } from 'zod';
import { byMember, get, type OperationRow } from '../operation.ts';
import {
  boardName,
  deliveryMode,
  digest,
  eventActor,
  handle,
  id,
  memberName,
  presence,
  queryBool,
  queryInt,
  roleName,
  seq,
  time,
} from '../schemas.ts';
import { hintFrameNames } from '../values.ts';
import { message } from './messages.ts';
import { pairingState } from './pairing.ts';
import { agentLine, agentState } from './seats.ts';

/** Data of `member.joined`, for the creator of a board, a new guest and every agent. */
export const memberJoined = z.strictObject({
  member_id: id('mem'),
  name: memberName,
  kind: z.enum(['agent', 'human']),
  role: roleName.nullable(),
  owner: handle.nullable(),
  owner_id: id('hum').nullable(),
  harness: z.string().nullable(),
  access: z.enum(['admin', 'member']).nullable(),
  join_code_id: id('jc').nullable(),
  guest: z.literal(true).optional(),
  person_id: id('hum')
    .optional()
    .describe('The person who joined: the creator or a new guest. Absent for an agent, whose person is owner_id.'),
  via: z.literal('delegation').optional(),
  delegation_id: id('dlg').optional(),
});

export const event = z.strictObject({
  id: id('evt'),
  board_id: id('brd'),
  seq: z.int().min(1),
  type: z.string(),
  at: time,
  actor: eventActor,
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('What happened, by type. That of member.joined is MemberJoined.'),
  data_withheld: z.literal(true).optional(),
  data_hash: digest,
  prev_hash: digest,
  hash: digest,
});

export const listEventsQuery = z.object({
  limit: queryInt(1, 200).default(50),
  after: queryInt(0).default(0),
  before: queryInt(1).optional(),
  newest: queryBool.default(false),
  type: z
    .string()
    .transform((value) => value.split(','))
    .refine(
      (types) => types.length <= 20 && types.every((type) => /^[a-z_.]{1,60}$/.test(type)),
      'must be 1 to 20 types of events, separated by commas',
    )
    .optional(),
});

export const eventPage = z.strictObject({
  board: boardName,
  events: z.array(event),
  head_seq: seq,
  next_after: z.int().nullable(),
  prev_before: z.int().nullable(),
});

export const openStreamQuery = z.object({
  board: z.string().max(80).optional(),
  after: queryInt(0).optional(),
  include: z.literal('message').optional(),
  boards: z
    .string()
    .transform((value) => value.split(','))
    .refine((boards) => boards.length <= 50, 'must be at most 50 boards')
    .optional(),
  events: z
    .string()
    .transform((value) => value.split(','))
    .refine(
      (names) => names.every((name) => (hintFrameNames as readonly string[]).includes(name)),
      `must be of ${hintFrameNames.join(', ')}`,
    )
    .optional()
    .describe('Names of HintFrames, with commas between them.'),
});

export const end = z.strictObject({ reason: z.enum(['credential_ended', 'server_shutdown', 'board_unavailable']) });

/** Data of each frame of `GET /v1/stream` without `board`. */
export const hintFrames = z.strictObject({
  head: z.strictObject({ board: boardName, board_id: id('brd'), seq }),
  unread: z.strictObject({ board: boardName, board_id: id('brd'), read_up_to: seq, unread: z.int().min(0) }),
  ready: z.strictObject({ boards: z.int().min(0) }),
  read: z.strictObject({
    board: boardName,
    board_id: id('brd'),
    agent: z.string(),
    member_id: id('mem'),
    read_up_to: seq,
  }),
  presence: z.strictObject({
    board: boardName,
    board_id: id('brd'),
    agent: z.string(),
    member_id: id('mem'),
    presence,
    presence_since: time.nullable(),
    delivery: deliveryMode.nullable(),
    line: agentLine.nullable(),
    state: agentState,
  }),
  delivery: z.strictObject({
    board_id: id('brd'),
    member_id: id('mem'),
    mode: deliveryMode,
    revision: z.int().min(0),
  }),
  approval: z.strictObject({
    approval_id: id('apr'),
    member_id: id('mem'),
    state: z.enum(['pending', 'executed', 'declined', 'expired']),
  }),
  pairing: z.strictObject({ pairing_request_id: id('prq'), state: pairingState, generation: z.int().min(1) }),
  notice: z.strictObject({ board_id: id('brd'), member_id: id('mem') }),
  allowance: z.strictObject({ revision: z.int().min(0) }),
  boards: z.strictObject({}),
  board_unavailable: z.strictObject({ board_id: id('brd'), member_id: id('mem').optional() }),
  end,
});

/** Data of each frame of `GET /v1/stream?board=`. */
export const boardFrames = z.strictObject({
  event,
  message,
  ready: z.strictObject({ board: boardName, board_id: id('brd'), head_seq: seq }),
  end,
});

export const about = 'The hash-chained log of a board, and live streams.';

export const operations = {
  listEvents: {
    ...get('/v1/boards/{board}/events', byMember, "Read a board's hash-chained event log"),
    description:
      'Anybody can check the chain. `data_hash` is the SHA-256 of `data`, `hash` that of an object of `actor`, `at`, `board_id`, `data_hash`, `id`, `prev_hash`, `seq` and `type`, each written as canonical JSON (RFC 8785) in UTF-8 and shown as `sha256:` and 64 hex digits; `prev_hash` is the hash of the event before, of the first one 64 zeros. `seq` begins with 1 and leaves nothing out. Where the caller may not read `data`, it is left out, with `data_withheld`. The data of member.joined names a person who joined, the creator or a new guest, by person_id; of an agent, owner_id names its person. A person who comes later is named by the person_id of person.added.',
    rates: ['reads'],
    query: listEventsQuery,
    errors: ['not_on_board'],
    answer: eventPage,
  },
  openStream: {
    ...get('/v1/stream', byMember, 'Live events of one board, or hints about all boards of a person'),
    description:
      'Server-sent events; a comment comes every 25 s, and 60 s of silence are the end of a connection. With `board`: from `after` on, else from now on, each Event in a frame `event`, whose id is its seq; with `include=message` the Message follows its event in a frame `message`, without an id, unless the data is withheld. Last-Event-ID takes the place of `after`: who was cut off before the message resumes with the seq before it. `ready` comes once what was there is sent. Without `board`: hints that something changed, on `boards` if named, of the kinds `events`; `head` and `unread` of each board come first, then `ready`, so there is nothing to resume. `end` is the last frame, with its `reason`. The data of each frame is the field of its name in BoardFrames or, without `board`, in HintFrames.',
    kind: 'stream',
    agentsNeed: 'board',
    rates: ['waits'],
    query: openStreamQuery,
    errors: ['not_on_board'],
    answer: z.string(),
  },
} as const satisfies Record<string, OperationRow>;
