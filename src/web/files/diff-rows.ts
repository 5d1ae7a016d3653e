/** Computes a line diff of two texts, with word diffs inside changed lines. */
import { diffLines, diffWordsWithSpace } from 'diff';

/** A half-open range of characters in a line. */
export type Range = readonly [start: number, end: number];

export interface Side {
  /** The line number, from 1. */
  line: number;
  /** The changed words, if the row pairs two lines. */
  words: Range[];
}

export interface Row {
  before: Side | null;
  after: Side | null;
  changed: boolean;
}

export interface Comparison {
  rows: Row[];
  added: number;
  removed: number;
}

/** More rows of a table would hold up the page for seconds. */
export const MAX_ROWS = 20_000;
const TIMEOUT_MS = 3_000;
/** For the word diffs of all lines; lines that are left then get none. */
const WORDS_TIMEOUT_MS = 1_000;
/** Longer lines get no word diff. In characters. */
const MAX_WORD_DIFF_LINE = 2_000;

export const splitLines = (text: string): string[] => {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** Compares two texts. Returns null when they have too little in common: on a timeout, or with too many changes. */
export function compare(before: string, after: string): Comparison | null {
  const parts = diffLines(before, after, { timeout: TIMEOUT_MS });
  if (!parts) return null;
  const end = Date.now() + WORDS_TIMEOUT_MS;
  const [old, now] = [splitLines(before), splitLines(after)];
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
    const removedCount = part.removed ? part.count : 0;
    const addedCount = pair?.count ?? (part.added ? part.count : 0);
    removed += removedCount;
    added += addedCount;
    for (let k = 0; k < Math.max(removedCount, addedCount); k++) {
      const sides = { before: k < removedCount ? side(++left) : null, after: k < addedCount ? side(++right) : null };
      if (sides.before && sides.after) markWords(sides.before, sides.after, old, now, end);
      rows.push({ ...sides, changed: true });
    }
  }
  return added + removed > MAX_ROWS ? null : { rows, added, removed };
}

const side = (line: number): Side => ({ line, words: [] });

/** Adds the word diff of two paired lines, unless they have little in common. @param end when its time is over */
function markWords(before: Side, after: Side, old: string[], now: string[], end: number): void {
  const [a, b] = [old[before.line - 1] ?? '', now[after.line - 1] ?? ''];
  if (a.length > MAX_WORD_DIFF_LINE || b.length > MAX_WORD_DIFF_LINE) return;
  const parts = diffWordsWithSpace(a, b, { timeout: end - Date.now() });
  if (!parts) return;
  let [left, right, same] = [0, 0, 0];
  const words: [Range[], Range[]] = [[], []];
  for (const { value, added, removed } of parts) {
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

/** Consecutive rows. A folded group is unchanged and far from any change. */
interface RowGroup {
  folded: boolean;
  from: number;
  rows: Row[];
}

const CONTEXT = 4;

/** Groups rows and folds long unchanged parts. */
export function groupRows(rows: Row[]): RowGroup[] {
  const near = rows.map(() => false);
  rows.forEach(({ changed }, at) => {
    if (changed) near.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const found: RowGroup[] = [];
  rows.forEach((row, at) => {
    const last = found.at(-1);
    if (last && last.folded === !near[at]) last.rows.push(row);
    else found.push({ folded: !near[at], from: at, rows: [row] });
  });
  // Folding fewer than four lines would save no space.
  return found.map((stretch) => (stretch.rows.length < 4 ? { ...stretch, folded: false } : stretch));
}
