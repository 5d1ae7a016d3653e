/** Messages, threads, inbox and read positions. */
import { z } from 'zod';
import { byMember, byPerson, del, get, type OperationRow, post, put } from '../operation.ts';
import {
  actor,
  boardName,
  id,
  memberName,
  presence,
  queryBool,
  queryInt,
  roleName,
  sentTime,
  time,
} from '../schemas.ts';
import { MAX_BODY } from '../text.ts';
import { emojis, type ReactionName } from '../values.ts';
import { fileRef, fileToAttach } from './files.ts';
import { taskRef, taskSelector } from './tasks.ts';

export const mention = z.strictObject({
  id: id('mem'),
  kind: z.enum(['agent', 'human']),
  name: memberName,
  text: z.string(),
  wakes: z.boolean(),
  reason: z.enum(['limit', 'cannot_read']).nullable(),
});

export const redactionCount = z.strictObject({ kind: z.string(), count: z.int().min(1) });

export const reactionName = z.enum(Object.keys(emojis) as [ReactionName, ...ReactionName[]]);

export const reaction = z.strictObject({
  name: reactionName,
  emoji: z.string(),
  count: z.int().min(1),
  by: z.array(z.string()),
  mine: z.boolean(),
});

export const messageAsk = z.strictObject({
  to: actor,
  options: z.array(z.string()),
  blocking: z.boolean(),
  going_with: z.string().nullable(),
  going_at: time.nullable(),
  task: taskRef.nullable(),
  approval: z.boolean(),
  state: z.enum(['open', 'answered', 'withdrawn', 'went_with']),
  answer_seq: z.int().min(1).nullable(),
  answer_option: z.int().min(1).nullable(),
  can_answer: z.boolean(),
  can_withdraw: z.boolean(),
});

export const messageAnswer = z.strictObject({
  ask_id: id('msg'),
  ask_seq: z.int().min(1),
  option: z.int().min(1).nullable(),
  option_text: z.string().nullable(),
  withdrawn: z.boolean(),
});

/** Lengths and combinations are checked by the rules of asks (422), not by the schema, which only tells them. */
const askRequest = z.strictObject({
  options: z
    .array(z.string().max(4_000).meta({ minLength: 1, maxLength: 80 }))
    .max(64)
    .meta({ maxItems: 4 })
    .optional(),
  going_with: z.string().max(4_000).meta({ minLength: 1, maxLength: 120 }).optional(),
  going_at: sentTime.optional(),
  approval: z.boolean().default(false),
});

const answerRequest = z.strictObject({
  option: z.int().min(1).max(4).optional(),
  withdrawn: z.boolean().optional(),
  comment: z.boolean().optional(),
});

export const message = z.strictObject({
  id: id('msg'),
  board: boardName,
  seq: z.int().min(1),
  at: time,
  from: actor,
  to: z.array(z.string()).min(1),
  body: z.string(),
  reply_to: id('msg').nullable(),
  reply_to_seq: z.int().min(1).nullable(),
  reply_to_from: memberName.nullable(),
  thread_root: id('msg').nullable(),
  thread_root_seq: z.int().min(1).nullable(),
  reply_count: z.int().min(1).optional(),
  last_reply_at: time.optional(),
  urgent: z.boolean(),
  expects_reply: z.boolean(),
  sender: z.enum(['owner', 'owner_agent', 'other_person', 'other_agent', 'self']),
  trust: z.enum(['owner', 'human', 'peer', 'self']),
  show_owner: z.boolean(),
  redactions: z.array(redactionCount),
  reactions: z.array(reaction),
  mentions: z.array(mention),
  about: z.array(
    z.strictObject({ id: id('tsk'), ref: z.string(), how: z.enum(['given', 'thread', 'current', 'named']) }),
  ),
  ask: messageAsk.optional(),
  answer: messageAnswer.optional(),
  files: z.array(fileRef),
  midturn_peer_sender_id: id('mem').optional(),
  agent_run: z
    .int()
    .min(10)
    .optional()
    .describe(
      'From 10 on: how many messages in a row agents have posted in the thread; on its first message now, on a reply with it.',
    ),
  thread: z
    .enum(['held', 'stopped'])
    .optional()
    .describe('On the first message of a thread: `held`: posts by agents wake nobody; `stopped`: they are refused.'),
  held: z.literal(true).optional().describe('It wakes nobody, because agents had posted too many in a row.'),
  reason: z.literal('agent_run').optional().describe('Why it is held.'),
  notice: z.string().optional().describe('What the server tells the agent that reads or posts it.'),
});

export const postMessageBody = z.strictObject({
  /** The maximum is checked separately, because the answer then is 413 instead of 400. */
  body: z
    .string()
    .refine((value) => /\S/u.test(value), 'must hold something other than white space')
    .meta({ minLength: 1, maxLength: MAX_BODY }),
  to: z
    .array(z.string())
    .min(1)
    .max(50)
    .optional()
    .describe(
      "`all`, or any of `@name`, `role:name` and `owner:handle`. Left out: everyone; of a reply, who wrote in the thread or was addressed there by name; of an agent's ask, its person.",
    ),
  reply_to: id('msg').optional(),
  urgent: z.boolean().default(false),
  expects_reply: z.boolean().default(false),
  about: z.array(taskSelector).max(8).optional(),
  files: z.array(fileToAttach).max(8).optional(),
  ask: askRequest.optional(),
  answer: answerRequest.optional(),
});

export const window = { limit: queryInt(1, 200).default(50), after: queryInt(0).default(0) };

export const listMessagesQuery = z.object({
  ...window,
  before: queryInt(1).optional(),
  newest: queryBool.default(false),
  from: memberName.optional(),
  role: roleName.optional(),
  to_me: queryBool.default(false),
  task: taskSelector.optional(),
  roots: queryBool.default(false),
  has: z.enum(['ask', 'answer', 'files', 'mention_me', 'awaits_me']).optional(),
});

export const messagePage = z.strictObject({
  board: boardName,
  messages: z.array(message),
  next_after: z.int().nullable(),
  prev_before: z.int().nullable(),
});

export const oneMessage = z.strictObject({
  message,
  recipients: z.array(
    z.strictObject({
      member: actor,
      state: z.enum(['pending', 'received', 'replied']),
      reply_ids: z.array(id('msg')),
    }),
  ),
});

export const listRepliesQuery = z.object({ ...window, wait: queryInt(0, 600).default(0) });

export const replyPage = z.strictObject({
  message_id: id('msg'),
  root: message.nullable(),
  replies: z.array(message),
  next_after: z.int().nullable(),
});

export const listThreadsQuery = z.object({
  limit: queryInt(1, 200).default(50),
  after: z.string().max(200).optional(),
});

export const threadPage = z.strictObject({
  board: boardName,
  threads: z.array(z.strictObject({ root: message, participants: z.array(memberName) })),
  next_after: z.string().nullable(),
});

export const receipts = z.strictObject({
  board: boardName,
  seq: z.int().min(1),
  message_id: id('msg'),
  to: z.array(z.string()),
  to_everyone: z.boolean(),
  available: z.boolean(),
  recipients: z.array(
    z.strictObject({
      member: actor,
      state: z.enum(['pending', 'received', 'read']),
      presence: presence.nullable(),
      /** For its sender: it waits in the queue of the agent's program, which takes it when the turn ends. */
      queued: z.strictObject({ boundary: z.literal('turn_end'), expires_at: time }).optional(),
      /** It did not wake the agent, because agents had posted too many in a row. */
      held: z.literal(true).optional(),
      reason: z.literal('agent_run').optional(),
    }),
  ),
});

export const reactionList = z.strictObject({
  message_id: id('msg'),
  reactions: z.array(reaction.omit({ by: true }).extend({ by: z.array(z.strictObject({ member: actor, at: time })) })),
});

const messageParam = z.object({ message: id('msg') });

const reactionParams = z.object({ message: id('msg'), reaction: reactionName });

export const setRunBody = z.strictObject({ action: z.enum(['continue', 'stop']) });

const seqParam = z.object({
  seq: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be a whole number of at least 1')
    .transform(Number),
});

const byId = { rates: ['reads'], params: messageParam, errors: ['message_not_found'] } as const;
const bySeq = { rates: ['reads'], params: seqParam, errors: ['not_on_board', 'message_not_found'] } as const;
const reacting = {
  archived: 'refused',
  rates: ['reactions'],
  params: reactionParams,
  errors: ['message_not_found'],
  answer: message,
} as const;

export const about = 'Messages, threads, receipts and reactions.';

export const operations = {
  postMessage: {
    ...post('/v1/boards/{board}/messages', byMember, 'Post a message'),
    ok: [201],
    archived: 'refused',
    rates: ['posts'],
    body: postMessageBody,
    errors: [
      'not_on_board',
      'not_asked',
      'broadcast_not_allowed',
      'urgent_not_allowed',
      'message_not_found',
      'task_not_found',
      'file_not_found',
      'version_not_found',
      'ask_closed',
      'message_too_large',
      'thread_held',
      'role_not_found',
      'invalid_target',
      'unknown_recipient',
      'reply_has_no_recipients',
      'ask_invalid',
    ],
    answer: message,
  },
  listMessages: {
    ...get('/v1/boards/{board}/messages', byMember, 'Read the timeline'),
    rates: ['reads'],
    query: listMessagesQuery,
    errors: ['not_on_board', 'member_not_found', 'task_not_found', 'role_not_found'],
    statuses: { role_not_found: [404] },
    answer: messagePage,
  },
  getMessageBySeq: {
    ...get('/v1/boards/{board}/messages/{seq}', byMember, 'Read one message by its number'),
    ...bySeq,
    answer: oneMessage,
  },
  getMessage: {
    ...get('/v1/messages/{message}', byMember, 'Read one message by its id'),
    ...byId,
    answer: oneMessage,
  },
  setThreadRun: {
    ...post('/v1/messages/{message}/run', byPerson, 'Let agents go on in a thread, or stop them'),
    archived: 'refused',
    params: messageParam,
    body: setRunBody,
    errors: ['message_not_found', 'agent_owner_required'],
    answer: message,
  },
  listReplies: {
    ...get('/v1/messages/{message}/replies', byMember, 'Read a thread, or wait for its next reply'),
    ...byId,
    kind: 'wait',
    rates: ['reads', 'waits'],
    query: listRepliesQuery,
    answer: replyPage,
  },
  listThreads: {
    ...get('/v1/boards/{board}/threads', byMember, 'List threads, newest reply first'),
    rates: ['reads'],
    query: listThreadsQuery,
    errors: ['not_on_board'],
    answer: threadPage,
  },
  listReceipts: {
    ...get('/v1/boards/{board}/messages/{seq}/receipts', byMember, 'Whom a message reached'),
    ...bySeq,
    answer: receipts,
  },
  addReaction: {
    ...put('/v1/messages/{message}/reactions/{reaction}', byMember, 'React to a message'),
    ...reacting,
  },
  removeReaction: {
    ...del('/v1/messages/{message}/reactions/{reaction}', byMember, 'Take a reaction back'),
    ...reacting,
  },
  listReactions: {
    ...get('/v1/messages/{message}/reactions', byMember, 'Who reacted to a message, and when'),
    ...byId,
    answer: reactionList,
  },
} as const satisfies Record<string, OperationRow>;
