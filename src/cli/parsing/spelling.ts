/** Which of the names that there are was probably meant by one that is none. */

/** The names nearest to what was typed, at most three that are equally near. */
export const nearestNames = (typed: string, names: Iterable<string>): string[] =>
  closest([...names].map((name) => ({ means: name, far: within(typed, name) })));

/** Of candidates with their distance, those that are nearest. */
export function closest(candidates: { means: string; far: number }[]): string[] {
  const far = Math.min(...candidates.map((candidate) => candidate.far));
  if (!Number.isFinite(far)) return [];
  const best = candidates.filter((candidate) => candidate.far === far).map(({ means }) => means);
  return [...new Set(best)].sort().slice(0, 3);
}

/** The distance, or infinity where nobody would take one for the other. */
export function within(typed: string, name: string): number {
  const far = distance(typed, name);
  return far <= Math.max(1, Math.floor(name.length / 3)) ? far : Number.POSITIVE_INFINITY;
}

/** Edit distance: letters put in, left out, replaced, or two neighbours swapped. */
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
