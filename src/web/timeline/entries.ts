/**
 * The entries of the conversation: messages with their threads, and other events of the board.
 */
import type { BoardEvent, Message } from '../../contract/types.ts';
import { Post } from './thread.ts';

/** A board event, shown as one line. */
export interface EventLine {
  seq: number;
  event: BoardEvent;
}

export type Entry = Post | EventLine;

/** Event types that are shown, in groups of at most 20, the API's limit for one request. */
export const lineTypes: readonly (readonly string[])[] = [
  [
    ...['created', 'titled', 'policy_changed', 'config_changed', 'agents_add_people_changed'].map((t) => `board.${t}`),
    ...['visibility_changed', 'task_prefix_set', 'archived', 'restored', 'deleted'].map((t) => `board.${t}`),
    ...['member.joined', 'joincode.created', 'joincode.revoked', 'agent.removed', 'agent.left'],
    ...['thread.continued', 'thread.stopped'],
  ],
  [
    ...['added', 'renamed', 'removed', 'left', 'made_owner', 'role_changed'].map((t) => `person.${t}`),
    ...['created', 'started', 'joined', 'taken_over', 'updated', 'done', 'dropped'].map((t) => `task.${t}`),
    ...['version_added', 'updated', 'approved', 'approval_removed', 'removed', 'renamed'].map((t) => `file.${t}`),
  ],
];

const known = new Set(lineTypes.flat());

/**
 * Whether an event is shown. Leaves out event 2, which only says that the creator joined the board.
 */
export const hasLine = ({ type, seq }: BoardEvent): boolean => known.has(type) && seq !== 2;

/** Whether the next entry says that who opened a task started it at once, which is told in the line of the first. */
export function isStartedAtOnce(entry: Entry | undefined, next: Entry | undefined): boolean {
  if (!entry || !next || entry instanceof Post || next instanceof Post) return false;
  const [created, started] = [entry.event, next.event];
  return (
    created.type === 'task.created' &&
    started.type === 'task.started' &&
    created.at === started.at &&
    created.actor.member_id === started.actor.member_id &&
    created.data?.['task_id'] === started.data?.['task_id']
  );
}

/** The number of messages that an entry adds to the document. */
export const weightOf = (entry: Entry): number =>
  1 + (entry instanceof Post ? (entry.thread?.visible.peek().length ?? 0) : 0);

const RUN_MS = 5 * 60_000;

/** Whether a message needs no header: same sender and recipients as the previous one, within five minutes. */
export function continuesRun(before: Message | undefined, message: Message): boolean {
  return (
    before !== undefined &&
    before.from.id === message.from.id &&
    Date.parse(message.at) - Date.parse(before.at) < RUN_MS &&
    !message.urgent &&
    !message.expects_reply &&
    !before.reply_count &&
    String(before.to) === String(message.to)
  );
}
