/** The filters of the Everything screen. */
import { kinds } from '../record/words.ts';
import type { Need } from '../state/needs.ts';
import type { Entry } from './stream.ts';

export interface Filters {
  /** "name owner" of an agent; empty: everyone. */
  agent: string;
  /** The reference of a task, or empty. */
  task: string;
  kind: string;
  /** Only what needs the person. */
  needsYou: boolean;
}

type Data = { about?: { ref?: string }[]; ref?: string; message_id?: string };

/** The references of the tasks that an entry is about. */
export function tasksOf({ event }: Entry): string[] {
  const { about, ref } = (event.data ?? {}) as Data;
  const tags = Array.isArray(about) ? about.flatMap((tag) => (typeof tag?.ref === 'string' ? [tag.ref] : [])) : [];
  return typeof ref === 'string' ? [ref, ...tags] : tags;
}

/** The agent that an entry comes from; null for people. */
export const agentOf = ({ event: { actor } }: Entry): string | null =>
  actor.kind === 'agent' ? `${actor.name} ${actor.owner}` : null;

/** Whether an entry matches the filters. Reactions never do, because they are shown at their message. */
export function matchesFilters(entry: Entry, filters: Filters, needs: Need[]): boolean {
  const { type, data } = entry.event;
  if (type.startsWith('reaction.')) return false;
  const kind = kinds.find(([name]) => name === filters.kind)?.[1];
  if (kind && !kind.test(type)) return false;
  if (filters.agent !== '' && agentOf(entry) !== filters.agent) return false;
  if (filters.task !== '' && !tasksOf(entry).includes(filters.task)) return false;
  return !filters.needsYou || needs.some(({ id }) => id === (data as Data | undefined)?.message_id);
}
