/**
 * What the conversation is made of: messages with their threads, and lines that tell what else happened on the board.
 */
import type { BoardEvent, Message } from '../../contract/types.ts';
import { Post } from './thread.ts';

/** Something else that happened on the board. */
export interface Line {
  seq: number;
  event: BoardEvent;
}

export type Entry = Post | Line;

/** Types of events that have a line; at most twenty can be asked for at once. */
export const lineTypes: readonly (readonly string[])[] = [
  [
    ...['created', 'titled', 'policy_changed', 'config_changed', 'agents_add_people_changed'].map((t) => `board.${t}`),
    ...['visibility_changed', 'task_prefix_set', 'archived', 'restored', 'deleted'].map((t) => `board.${t}`),
    ...['member.joined', 'joincode.created', 'joincode.revoked', 'agent.removed', 'agent.left'],
  ],
  [
    ...['added', 'renamed', 'removed', 'left', 'made_owner', 'role_changed'].map((t) => `person.${t}`),
    ...['created', 'started', 'joined', 'updated', 'done', 'dropped'].map((t) => `task.${t}`),
    ...['version_added', 'updated', 'approved', 'approval_removed', 'removed', 'renamed'].map((t) => `file.${t}`),
  ],
];

const known = new Set(lineTypes.flat());

/**
 * Whether an event has a line. Types that this page does not know have none, nor has the second one: that who made the
 * board is on it.
 */
export const hasLine = ({ type, seq }: BoardEvent): boolean => known.has(type) && seq !== 2;

/** How much of the document an entry takes, in messages. */
export const weightOf = (entry: Entry): number =>
  1 + (entry instanceof Post ? (entry.thread?.shown.peek().length ?? 0) : 0);

const RUN_MS = 5 * 60_000;

/** Whether a message needs no header: the same sender, to the same, within five minutes, with nothing between. */
export function isRun(before: Message | undefined, message: Message): boolean {
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
