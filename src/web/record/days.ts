/** Aggregates event counts by day and member. */
import type { Counts } from './protocol.ts';

export interface Day {
  /** The start of the day, in milliseconds since the epoch. */
  at: number;
  agents: number;
  people: number;
}

const DAYS = 30;

/** Counts events for each of the last 30 days. @param member the id of one member, or null for all */
export function countByDay({ days, actors }: Counts, member: string | null, now: number): Day[] {
  const found: Day[] = [];
  const today = new Date(now);
  for (let n = 0; n < DAYS; n++) {
    // By the calendar: days with a clock change have 23 or 25 hours, and some begin at 1:00.
    const at = new Date(today.getFullYear(), today.getMonth(), today.getDate() - n).getTime();
    const entry = { at, agents: 0, people: 0 };
    for (const [who, count] of Object.entries(days[at] ?? {})) {
      if (member !== null && who !== member) continue;
      if (actors[who]?.kind === 'agent') entry.agents += count;
      else entry.people += count;
    }
    found.unshift(entry);
  }
  return found;
}

/** Ids of members, the most active first. */
export const membersByActivity = ({ days, actors }: Counts): string[] => {
  const sums = new Map<string, number>();
  for (const ofDay of Object.values(days))
    for (const [who, count] of Object.entries(ofDay)) sums.set(who, (sums.get(who) ?? 0) + count);
  return [...sums.keys()]
    .filter((who) => actors[who]?.kind !== 'system')
    .toSorted((a, b) => sums.get(b)! - sums.get(a)!);
};
