/** Suggestions for misspelt names, by edit distance. */

/** The known names closest to what was typed: at most three, all at the same distance; none if nothing is close. */
export const nearestNames = (typed: string, names: Iterable<string>): string[] =>
  closest([...names].map((name) => ({ name, distance: typoDistance(typed, name) })));

/** The names with the smallest distance, at most three, sorted; none if every distance is infinite. */
export function closest(candidates: { name: string; distance: number }[]): string[] {
  const smallest = Math.min(...candidates.map((candidate) => candidate.distance));
  if (!Number.isFinite(smallest)) return [];
  const best = candidates.filter((candidate) => candidate.distance === smallest).map(({ name }) => name);
  return [...new Set(best)].sort().slice(0, 3);
}

/** The edit distance, or infinity if it is more than a third of the name (and more than one letter). */
export function typoDistance(typed: string, name: string): number {
  const edits = distance(typed, name);
  return edits <= Math.max(1, Math.floor(name.length / 3)) ? edits : Number.POSITIVE_INFINITY;
}

/** Edit distance: inserted, deleted and replaced letters, and swaps of two neighbours. */
export function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const best = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      row.push(swapped ? Math.min(best, rows[i - 2]![j - 2]! + 1) : best);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
