/**
 * Validates answers that become text for a session. A server may have another version or be hostile: an invalid answer is
 * a failure of its seats and must not crash the daemon.
 */
import { z } from 'zod';
import { unexpected } from '../../client/errors.ts';
import { boardName, deliveryMode, memberName, time } from '../../contract/schemas.ts';
import type { Claim, Inbox, Message } from '../../contract/types.ts';
import type { Notice } from './link.ts';

const text = z.string();
const flag = z.boolean();
/** A message number or a count. */
const number = z.int().min(0);

export const isNumber = (value: unknown): boolean => number.safeParse(value).success;
export const isMode = (value: unknown): boolean => deliveryMode.safeParse(value).success;

const message = z.object({
  id: text,
  board: boardName,
  seq: number,
  at: time,
  from: z.object({
    id: text,
    name: text,
    kind: text,
    role: z.nullable(text),
    owner: z.nullable(text),
    harness: z.nullable(text),
  }),
  to: z.array(text),
  body: text,
  reply_to_seq: z.nullable(number),
  reply_to_from: z.nullable(text),
  urgent: flag,
  expects_reply: flag,
  sender: z.enum(['owner', 'owner_agent', 'other_person', 'other_agent']),
  mentions: z.array(z.object({ id: text, wakes: flag })),
  about: z.array(z.object({ ref: text })),
  files: z.array(z.object({ id: text, name: text, version: number })),
  ask: z.optional(
    z.object({ options: z.array(text), blocking: flag, going_with: z.nullable(text), going_at: z.nullable(time) }),
  ),
  answer: z.optional(
    z.object({
      ask_id: text,
      ask_seq: number,
      option: z.nullable(number),
      option_text: z.nullable(text),
      withdrawn: flag,
    }),
  ),
  midturn_peer_sender_id: z.optional(text),
  agent_run: z.optional(number),
  held: z.optional(flag),
  notice: z.optional(text),
});

const line = z.object({ kind: text, text, until: z.nullable(text), source: text, at: text });
const work = z.object({
  current_task: z.nullable(z.object({ ref: text, title: text, stands: z.nullable(z.object({ text, at: text })) })),
  asks_waiting: number,
  asks_to_it: number,
  line: z.nullable(line),
  brief: z.nullable(
    z.object({ file_id: text, version: number, at: text, messages_since: number, tasks_done_since: number }),
  ),
  nudges: flag,
});

const inbox = z.object({
  board: boardName,
  board_id: text,
  agent: memberName,
  member_id: text,
  // Only a person can be the owner, whose word a session follows.
  messages: z.array(message.refine(({ sender, from }) => sender !== 'owner' || from.kind === 'human')),
  cursor: number,
  more: flag,
  unread: number,
  unread_urgent: number,
  delivery_mode: deliveryMode,
  delivery_revision: number,
  midturn_policy: text,
  work,
  braked: z.optional(z.object({ until: time, reason: text })),
});

const notices = z.array(
  z.object({ id: text, kind: text, text, approval_id: z.optional(text), next: z.object({ command: text }) }),
);

/** @param memberId the seat whose inbox was requested. @throws ClientError `server_unexpected` */
export function requireInbox(value: Inbox, memberId: string): Inbox {
  // The numbers must ascend, because the last one decides what is acknowledged.
  const isAscending = (list: readonly Message[]) => list.every(({ seq }, at) => at === 0 || seq > list[at - 1]!.seq);
  if (inbox.safeParse(value).success && value.member_id === memberId && isAscending(value.messages)) return value;
  throw unexpected('The answer is not the inbox that was asked for.');
}

/** @throws ClientError `server_unexpected` */
export function requireNotices(value: Notice[]): Notice[] {
  if (notices.safeParse(value).success) return value;
  throw unexpected('The answer is no list of notices.');
}

const claim = z.object({
  agent: memberName,
  member_id: text,
  board: boardName,
  repo: z.nullable(text),
  paths: z.array(text.max(200)).max(20),
  line: text,
  task: z.nullable(text),
  since: time,
  own: flag,
});

/** @returns the valid ones, so that a bad one hides no other. @throws ClientError `server_unexpected` for no list */
export function requireClaims(value: Claim[]): Claim[] {
  if (Array.isArray(value)) return value.slice(0, 1_000).filter((one) => claim.safeParse(one).success);
  throw unexpected('The answer is no list of files that agents are on.');
}
