/** How much happened on each day, by whom. */
import type { Counts } from './protocol.ts';

export interface Day {
  /** Its first millisecond. */
  at: number;
  agents: number;
  people: number;
}

const DAYS = 30;

/** The last days up to today. @param member only of this one; null: of all */
export function daysOf({ days, actors }: Counts, member: string | null, now: number): Day[] {
  const found: Day[] = [];
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  for (let n = 0; n < DAYS; n++) {
    const at = day.getTime();
    const entry = { at, agents: 0, people: 0 };
    for (const [who, count] of Object.entries(days[at] ?? {})) {
      if (member !== null && who !== member) continue;
      if (actors[who]?.kind === 'agent') entry.agents += count;
      else entry.people += count;
    }
    found.unshift(entry);
    // Not 24 hours: a day can have 23 or 25.
    day.setDate(day.getDate() - 1);
  }
  return found;
}

/** Members by how much they did, the most first. */
export const busiest = ({ days, actors }: Counts): string[] => {
  const sums = new Map<string, number>();
  for (const ofDay of Object.values(days))
    for (const [who, count] of Object.entries(ofDay)) sums.set(who, (sums.get(who) ?? 0) + count);
  return [...sums.keys()]
    .filter((who) => actors[who]?.kind !== 'system')
    .toSorted((a, b) => sums.get(b)! - sums.get(a)!);
};
