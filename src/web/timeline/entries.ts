/** What the conversation is made of: messages with their threads, and lines that tell what else happened on the board. */
import type { BoardEvent } from '../../contract/types.ts';
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

/** Whether an event has a line. Types that this page does not know have none, nor has the second one: that who made the board is on it. */
export const hasLine = ({ type, seq }: BoardEvent): boolean => known.has(type) && seq !== 2;

/** How much of the document an entry takes, in messages. */
export const weightOf = (entry: Entry): number =>
  1 + (entry instanceof Post ? (entry.thread?.shown.peek().length ?? 0) : 0);
