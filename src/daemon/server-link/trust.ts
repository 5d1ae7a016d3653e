/**
 * Validates answers that become text for a session. A server may have another version or be hostile: an invalid answer is
 * a failure of its seats and must not crash the daemon.
 */
import { unexpected } from '../../client/errors.ts';
import { patterns } from '../../contract/ids.ts';
import type { Claim, Inbox, Message } from '../../contract/types.ts';
import type { Notice } from './link.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
/** A message number or a count. */
export const isNumber: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const number = isNumber;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: string[]): Check =>
  (value) =>
    values.includes(value as string);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
/** For names and times, which appear in our own lines and in commands. */
const matching =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const boardName = matching(patterns.boardName);
const agentName = matching(patterns.memberName);
const time = matching(patterns.time);
const record =
  (fields: Record<string, Check>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));

const message = record({
  id: text,
  board: boardName,
  seq: number,
  at: time,
  from: record({ id: text, name: text, kind: text, role: orNull(text), owner: orNull(text), harness: orNull(text) }),
  to: listOf(text),
  body: text,
  reply_to_seq: orNull(number),
  reply_to_from: orNull(text),
  urgent: flag,
  expects_reply: flag,
  sender: oneOf('owner', 'owner_agent', 'other_person', 'other_agent'),
  mentions: listOf(record({ id: text, wakes: flag })),
  about: listOf(record({ ref: text })),
  files: listOf(record({ name: text, version: number })),
  ask: maybe(record({ options: listOf(text), blocking: flag, going_with: orNull(text), going_at: orNull(time) })),
  answer: maybe(
    record({ ask_id: text, ask_seq: number, option: orNull(number), option_text: orNull(text), withdrawn: flag }),
  ),
  midturn_peer_sender_id: maybe(text),
  agent_run: maybe(number),
  held: maybe(flag),
  notice: maybe(text),
});

const line = record({ kind: text, text, until: orNull(text), source: text, at: text });
const work = record({
  current_task: orNull(record({ ref: text, title: text, stands: orNull(record({ text, at: text })) })),
  asks_waiting: number,
  asks_to_it: number,
  line: orNull(line),
  brief: orNull(record({ file_id: text, version: number, at: text, messages_since: number, tasks_done_since: number })),
  nudges: flag,
});

export const isMode = oneOf('focused', 'all', 'humans', 'off');

const inbox = record({
  board: boardName,
  board_id: text,
  agent: agentName,
  member_id: text,
  messages: listOf(message),
  cursor: number,
  more: flag,
  unread: number,
  unread_urgent: number,
  delivery_mode: isMode,
  delivery_revision: number,
  midturn_policy: text,
  work,
  braked: maybe(record({ until: time, reason: text })),
});

const notices = listOf(
  record({ id: text, kind: text, text, approval_id: maybe(text), next: record({ command: text }) }),
);

/** @param memberId the seat whose inbox was requested. @throws ClientError `server_unexpected` */
export function requireInbox(value: Inbox, memberId: string): Inbox {
  // The numbers must ascend, because the last one decides what is acknowledged.
  const isAscending = (list: readonly Message[]) => list.every(({ seq }, at) => at === 0 || seq > list[at - 1]!.seq);
  if (inbox(value) && value.member_id === memberId && isAscending(value.messages)) return value;
  throw unexpected('The answer is not the inbox that was asked for.');
}

/** @throws ClientError `server_unexpected` */
export function requireNotices(value: Notice[]): Notice[] {
  if (notices(value)) return value;
  throw unexpected('The answer is no list of notices.');
}

const claims = listOf(
  record({
    agent: agentName,
    member_id: text,
    board: boardName,
    repo: orNull(text),
    paths: (value) =>
      listOf((glob) => text(glob) && (glob as string).length <= 200)(value) && (value as []).length <= 20,
    line: text,
    task: orNull(text),
    since: time,
    own: flag,
  }),
);

/** @throws ClientError `server_unexpected` */
export function requireClaims(value: Claim[]): Claim[] {
  if (claims(value)) return value.slice(0, 1_000);
  throw unexpected('The answer is no list of files that agents are on.');
}
