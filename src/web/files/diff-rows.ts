/** Two texts as rows of a comparison, with the words that changed. */
import { diffLines, diffWordsWithSpace } from 'diff';

/** Half-open ranges of a line. */
export type Range = readonly [start: number, end: number];

export interface Side {
  /** The number of the line, from 1. */
  line: number;
  /** Changed words, where the other side has a line that it became. */
  words: Range[];
}

export interface Row {
  before: Side | null;
  after: Side | null;
  changed: boolean;
}

interface Comparison {
  rows: Row[];
  added: number;
  removed: number;
}

const MOST_MS = 3_000;
/** Longer lines are not compared by words. */
const LONG_LINE = 2_000;

export const linesOf = (text: string): string[] => {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** Null when it takes too long: the texts have too little in common. */
export function compare(before: string, after: string): Comparison | null {
  const parts = diffLines(before, after, { timeout: MOST_MS });
  if (!parts) return null;
  const [old, now] = [linesOf(before), linesOf(after)];
  const rows: Row[] = [];
  let [left, right, added, removed] = [0, 0, 0, 0];
  for (let n = 0; n < parts.length; n++) {
    const part = parts[n]!;
    if (!part.added && !part.removed) {
      for (let k = 0; k < part.count; k++)
        rows.push({ before: { line: ++left, words: [] }, after: { line: ++right, words: [] }, changed: false });
      continue;
    }
    const next = parts[n + 1];
    const pair = part.removed && next?.added ? next : undefined;
    if (pair) n++;
    const gone = part.removed ? part.count : 0;
    const come = pair?.count ?? (part.added ? part.count : 0);
    removed += gone;
    added += come;
    for (let k = 0; k < Math.max(gone, come); k++) {
      const sides = { before: k < gone ? side(++left) : null, after: k < come ? side(++right) : null };
      if (sides.before && sides.after) markWords(sides.before, sides.after, old, now);
      rows.push({ ...sides, changed: true });
    }
  }
  return { rows, added, removed };
}

const side = (line: number): Side => ({ line, words: [] });

/** Marks what differs in a line that became another. Lines with little in common are marked as a whole by their row. */
function markWords(before: Side, after: Side, old: string[], now: string[]): void {
  const [a, b] = [old[before.line - 1] ?? '', now[after.line - 1] ?? ''];
  if (a.length > LONG_LINE || b.length > LONG_LINE) return;
  let [left, right, same] = [0, 0, 0];
  const words: [Range[], Range[]] = [[], []];
  for (const { value, added, removed } of diffWordsWithSpace(a, b)) {
    const { length } = value;
    if (removed) words[0].push([left, left + length]);
    else if (added) words[1].push([right, right + length]);
    else same += value.trim().length;
    if (!added) left += length;
    if (!removed) right += length;
  }
  if (same * 3 < Math.min(a.trim().length, b.trim().length)) return;
  before.words = words[0];
  after.words = words[1];
}

/** A stretch of rows; those that did not change and are far from a change are folded. */
interface Stretch {
  folded: boolean;
  from: number;
  rows: Row[];
}

const CONTEXT = 4;

/** Rows in stretches, with what did not change folded where it is long. */
export function stretches(rows: Row[]): Stretch[] {
  const near = rows.map(() => false);
  rows.forEach(({ changed }, at) => {
    if (changed) near.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const found: Stretch[] = [];
  rows.forEach((row, at) => {
    const last = found.at(-1);
    if (last && last.folded === !near[at]) last.rows.push(row);
    else found.push({ folded: !near[at], from: at, rows: [row] });
  });
  // A fold of a few lines would take as much room as they do.
  return found.map((stretch) => (stretch.rows.length < 4 ? { ...stretch, folded: false } : stretch));
}
