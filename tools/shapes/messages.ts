/** What the commands about messages, asks and inboxes print with `--json`. */
import { z } from 'zod';
import {
  answer,
  board,
  count,
  failure,
  flag,
  inbox,
  message,
  named,
  nextSeq,
  nextText,
  object,
  seq,
  text,
} from './base.ts';

const outcomes = ['now', 'turn_end', 'next_turn', 'not_woken', 'no_session', 'cannot_read', 'over_limit', 'person'];
const recipient = named(
  'PostRecipient',
  z.strictObject({
    name: text,
    presence: text.nullable(),
    delivery: text.nullable(),
    mentioned: flag,
    outcome: z.enum(outcomes),
  }),
);
const recipients = z.array(recipient).nullable();
const unread = z
  .strictObject({ count, seqs: z.array(seq), from: z.array(z.strictObject({ name: text, sender: text })) })
  .nullable();
const one = answer('getMessage').shape;
const messages = z.array(message);

const posted = object({
  message,
  unread,
  recipients,
  outcome: z.enum(['reply', 'owner_message', 'timeout']).optional(),
  reply: message.nullable().optional(),
  owner_messages: messages.optional(),
  timed_out: flag.optional(),
});
/** With `--ndjson-in`, a line for each line. */
const postedLine = z.union([
  z.strictObject({ line: count, message, replayed: z.literal(true).optional() }),
  z.strictObject({ line: count, error: failure }),
]);

const given = z.strictObject({
  option: z.int().nullable(),
  option_text: text.nullable(),
  body: text,
  by: message.shape.from,
  withdrawn: z.literal(true).optional(),
});
const asked = named('AskAnswered', object({ message, ask: message }));

const read = named(
  'ReadInbox',
  object({
    agent: text,
    messages,
    acked_up_to: seq.nullable(),
    more: flag,
    wrapped: z.array(text),
    bundle: text,
    work: inbox.shape.work,
    timed_out: flag.optional(),
  }),
);
const seats = object({
  seats: z.array(
    z.strictObject({ board: text, agent: text, member_id: text, messages, acked_up_to: seq.nullable(), more: flag }),
  ),
  unavailable: count,
  unacknowledged: count,
  bundle: text,
  timed_out: flag.optional(),
});
const arrivals = answer('getOnboardingInbox').shape;
const ofPerson = object({
  boards: z.array(z.strictObject({ name: text, unread: count, needs_reply: count })),
  asks: messages,
  approvals: answer('listApprovals').shape.approvals,
  board_adds: arrivals.board_adds,
  arrivals: arrivals.arrivals,
});

/** In the program's own queue, until its turn ends. */
const queued = object({ queued: z.array(z.looseObject({ server: text, board_id: text, member_id: text, seq })) });

export const messageShapes = {
  'board:post': z.union([posted, postedLine]),
  'board:read': z.union([
    object({
      visibility: board.shape.visibility,
      messages,
      next_after: nextSeq,
      prev_before: nextSeq,
      read_up_to: seq.optional(),
      unread: count.optional(),
    }),
    message,
  ]),
  'board:thread': object({
    thread_root_seq: seq.nullable(),
    root: message.nullable(),
    replies: messages,
    next_after: nextSeq,
    timed_out: flag.optional(),
  }),
  'board:message': object({
    message,
    recipients: one.recipients,
    reactions: answer('listReactions').shape.reactions.optional(),
  }),
  'board:search': object({ query: text, results: answer('search').shape.results, next_after: nextText }),
  'board:watch': z.strictObject({ board: text, message }),
  inbox: z.union([read, seats, ofPerson, message, queued]),
  'inbox:wait': read,
  'inbox:ack': object({ cursor: seq }),
  'inbox:notices': object({ notices: answer('listNotices').shape.notices }),
  ask: object({ message, recipients, answer: given.optional(), timed_out: flag.optional() }),
  asks: object({ asks: messages, next_after: nextText }),
  answer: asked,
  withdraw: asked,
};
