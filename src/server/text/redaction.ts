/**
 * Takes secrets out of free text before anything stores, compares or logs it. Pure; runs on every post, so a text
 * without anything suspicious costs one pass of one combined pattern.
 */
import type { Message } from '../../contract/types.ts';
import { type SecretClass, secretClasses } from './secret-classes.ts';

/** How many secrets of each kind were replaced, sorted by kind. */
export type RedactionCounts = Message['redactions'];

/** A secret in a text; `index` and `length` count UTF-16 code units. */
interface FoundSecret {
  kind: string;
  index: number;
  length: number;
}

export interface Redacted {
  text: string;
  counts: RedactionCounts;
}

interface Found {
  start: number;
  end: number;
  /** Place of the class in the catalogue. */
  row: number;
}

interface Scanner {
  kind: string;
  inFiles: boolean;
  needle: RegExp;
  /** Every secret of the class in a text. */
  findAll(text: string, row: number): Found[];
  /** Where a secret ends that starts at `at`, taken as the start of a word; -1 if none does. */
  endAt(text: string, at: number): number;
}

const replacement = (kind: string): string => `[redacted:${kind}]`;
const marker = /\[redacted:[a-z0-9_]{1,40}\]/;

const BEGIN = '-----BEGIN ';
const privateKeyLabel = /^(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?$/;
const MAX_LABEL = 80;

/** By index, because a pattern over the block would have to look for its end from every start. */
function findPrivateKeys(text: string, row: number): Found[] {
  const found: Found[] = [];
  let start = text.indexOf(BEGIN);
  while (start !== -1) {
    const labelStart = start + BEGIN.length;
    const head = text.slice(labelStart, labelStart + MAX_LABEL + 5);
    const label = head.slice(0, Math.max(0, head.indexOf('-----')));
    let next = labelStart;
    if (privateKeyLabel.test(label)) {
      const last = `-----END ${label}-----`;
      const endLine = text.indexOf(last, labelStart);
      next = endLine === -1 ? text.length : endLine + last.length;
      found.push({ start, end: next, row });
    }
    start = text.indexOf(BEGIN, next);
  }
  return found;
}

const isLetter = (unit: number): boolean => (unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122);
const isWord = (unit: number): boolean => isLetter(unit) || (unit >= 48 && unit <= 57) || unit === 95;

/** The longest first part of a JWT with its `eyJ`, as in the catalogue. */
const MAX_JWT_HEAD = 515;

/**
 * By the dot before the second part. From the front, each of the many starts that a run of `-eyJ-eyJ-eyJ` offers would
 * read the whole rest of the run again; all starts before one dot stand or fall together.
 */
function findJwts(text: string, row: number, pattern: RegExp): Found[] {
  const found: Found[] = [];
  let from = 0;
  let dot = text.indexOf('.eyJ');
  while (dot !== -1) {
    let start = -1;
    const first = Math.max(from, dot - MAX_JWT_HEAD);
    for (let at = dot - 1; at >= first; at--) {
      const unit = text.charCodeAt(at);
      if (!isWord(unit) && unit !== 45) break;
      if (unit === 101 && text.startsWith('eyJ', at) && !isWord(text.charCodeAt(at - 1))) start = at;
    }
    let next = dot + 1;
    if (start !== -1) {
      pattern.lastIndex = start;
      if (pattern.test(text)) {
        next = pattern.lastIndex;
        from = next;
        found.push({ start, end: next, row });
      }
    }
    dot = text.indexOf('.eyJ', next);
  }
  return found;
}

const skRun = /(?<![A-Za-z0-9_])sk-[A-Za-z0-9_-]{20,}/g;
const SK = 'sk-'.length;
const MIN_SK = 20;
/** How far behind `sk-` the digit may stand, as in the catalogue. */
const MAX_TO_DIGIT = 200;

/**
 * By the run of characters that a key can have, which goes to its end. Each of the many starts that a run of `sk-sk-sk-`
 * offers would look for the digit again.
 */
function findSkKeys(text: string, row: number): Found[] {
  const found: Found[] = [];
  for (const { 0: run, index } of text.matchAll(skRun)) {
    const start = skKeyIn(run);
    if (start !== -1) found.push({ start: index + start, end: index + run.length, row });
  }
  return found;
}

/** The first start in a run that has a digit near enough; -1: none has. */
function skKeyIn(run: string): number {
  const digits = /[0-9]/g;
  let digit = -1;
  for (let start = 0; run.length - start >= SK + MIN_SK; ) {
    if (digit < start + SK) {
      digits.lastIndex = start + SK;
      digit = digits.exec(run)?.index ?? Number.POSITIVE_INFINITY;
    }
    if (digit - start - SK <= MAX_TO_DIGIT) return start;
    const hyphen = run.indexOf('-sk-', start);
    if (hyphen === -1) break;
    start = hyphen + 1;
  }
  return -1;
}

/** In the match itself the text is looked at as written; what was replaced already is never a secret again. */
function isSecret(secret: SecretClass, match: RegExpExecArray): boolean {
  if (!secret.placeholder) return true;
  return !secret.placeholder.test(match[1] as string) && !marker.test(match[0]);
}

function scanner(secret: SecretClass): Scanner {
  const { kind, onlyInMessages, pattern } = secret;
  const inFiles = !onlyInMessages;
  const needle = new RegExp(secret.needle, secret.anyCase ? 'i' : '');
  if (pattern === undefined) return { kind, inFiles, needle, findAll: findPrivateKeys, endAt: () => -1 };

  const flags = secret.anyCase ? 'dgi' : 'dg';
  const hasGroup = /\((?!\?)/.test(pattern);
  // Positions of groups are slow to keep, so they are asked for only where a group is replaced.
  const everywhere = new RegExp(
    (secret.anywhere ? '' : '(?<![A-Za-z0-9_])') + pattern,
    hasGroup ? flags : flags.slice(1),
  );
  const here = new RegExp(pattern, secret.anyCase ? 'yi' : 'y');
  return {
    kind,
    inFiles,
    needle,
    findAll(text, row) {
      if (kind === 'jwt') return findJwts(text, row, here);
      if (pattern.startsWith('sk-')) return findSkKeys(text, row);
      const found: Found[] = [];
      for (const match of text.matchAll(everywhere)) {
        if (!isSecret(secret, match)) continue;
        const span = hasGroup ? match.indices?.[1] : undefined;
        if (span) found.push({ start: span[0], end: span[1], row });
        else found.push({ start: match.index, end: match.index + match[0].length, row });
      }
      return found;
    },
    endAt(text, at) {
      if (secret.anywhere || hasGroup) return -1;
      here.lastIndex = at;
      return here.test(text) ? here.lastIndex : -1;
    },
  };
}

const scanners = secretClasses.map(scanner);

/** A pattern that matches a text in any case without the flag, which would hold for the whole combined pattern. */
const inAnyCase = (needle: string): string =>
  needle.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

const suspicious = new RegExp(
  secretClasses
    .map(({ needle, anyCase }) => (anyCase && /^[a-z_]+$/.test(needle) ? inAnyCase(needle) : needle))
    .join('|'),
);

const firstThenLongest = (a: Found, b: Found): number => a.start - b.start || b.end - a.end || a.row - b.row;

/** The longest secret that starts right after a replaced one: the replacement ends a word, so a new one starts there. */
function directlyAfter(text: string, at: number, classes: readonly number[]): Found | null {
  if (!isLetter(text.charCodeAt(at))) return null;
  let longest: Found | null = null;
  for (const row of classes) {
    const end = scanners[row]!.endAt(text, at);
    if (end > (longest?.end ?? -1)) longest = { start: at, end, row };
  }
  return longest;
}

/**
 * What to replace, in order and without overlaps. Of overlapping secrets the first, then the longest, then the one
 * higher in the catalogue gives its name to all of them together, so that no part of one is left standing.
 */
function findRegions(text: string, inFilesOnly: boolean): Found[] {
  if (!suspicious.test(text)) return [];
  const present: number[] = [];
  for (let row = 0; row < scanners.length; row++) {
    const candidate = scanners[row]!;
    if ((candidate.inFiles || !inFilesOnly) && candidate.needle.test(text)) present.push(row);
  }
  const found = present.flatMap((row) => scanners[row]!.findAll(text, row)).sort(firstThenLongest);

  const regions: Found[] = [];
  let next = 0;
  let region: Found | null = found[0] ? { ...found[0] } : null;
  while (region) {
    while (next < found.length && found[next]!.start < region.end) {
      region.end = Math.max(region.end, found[next]!.end);
      next++;
    }
    regions.push(region);
    const after: Found | null = directlyAfter(text, region.end, present);
    const later = found[next];
    if (after && (!later || firstThenLongest(after, later) < 0)) region = after;
    else region = later ? { ...later } : null;
  }
  return regions;
}

/**
 * The secrets in a text, in order and without overlaps.
 *
 * @param scope `files` looks only for the classes that a text file is refused for.
 */
export function findSecrets(text: string, scope: 'text' | 'files' = 'text'): FoundSecret[] {
  const found = findRegions(text, scope === 'files');
  return found.map(({ start, end, row }) => ({ kind: scanners[row]!.kind, index: start, length: end - start }));
}

/**
 * Replaces every secret by `[redacted:<kind>]`. What comes out holds no secret: redacting it again changes nothing.
 * Linear in the length of the text, hostile ones included; the result may be longer than the text.
 */
export function redact(text: string): Redacted {
  let regions = findRegions(text, false);
  if (regions.length === 0) return { text, counts: [] };

  const counts = new Map<string, number>();
  let current = text;
  // Taking one secret out can complete another that its characters had spoilt, hence the repetition; a second round
  // rarely finds anything. It ends, because each round leaves fewer characters outside replacements.
  while (regions.length > 0) {
    const parts: string[] = [];
    let copied = 0;
    for (const { start, end, row } of regions) {
      const { kind } = scanners[row]!;
      parts.push(current.slice(copied, start), replacement(kind));
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      copied = end;
    }
    parts.push(current.slice(copied));
    current = parts.join('');
    regions = findRegions(current, false);
  }
  return { text: current, counts: listed(counts) };
}

/** Counts of several texts as those of one. */
export function sumCounts(counts: RedactionCounts): RedactionCounts {
  const sums = new Map<string, number>();
  for (const { kind, count } of counts) sums.set(kind, (sums.get(kind) ?? 0) + count);
  return listed(sums);
}

/** Sorted by kind. */
export const listed = (counts: ReadonlyMap<string, number>): RedactionCounts =>
  [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
