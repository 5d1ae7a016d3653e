/**
 * Words of a text and of a query. Both engines get words that were split and folded here, so that they find the same:
 * runs of letters and digits, in lower case, without accents, no stemming and no stop words.
 */
import type { Refusal } from '../../contract/errors.ts';
import { invalidField } from '../operation/refusals.rules.ts';

interface Word {
  /** As it is compared. */
  folded: string;
  /** Half-open range in the text, in UTF-16 units. */
  start: number;
  end: number;
}

/** What a word is cut to in the index; a query cannot hold a longer one. */
const MAX_WORD = 200;
const MAX_TERMS = 16;

/** The words of a text, in order. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  const known = new Map<string, string>();
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const folded = known.get(word) ?? fold(word);
    known.set(word, folded);
    if (folded !== '') words.push({ folded, start: index, end: index + word.length });
  }
  return words;
}

function fold(word: string): string {
  const lower = word.toLowerCase();
  return (/^[a-z0-9]*$/.test(lower) ? lower : withoutMarks(lower)).slice(0, MAX_WORD);
}

/**
 * In a long word the marks that stand apart go first: to put a run of them in order takes the square of its length. No
 * letter becomes less than half as long.
 */
const withoutMarks = (word: string): string =>
  (word.length > MAX_WORD ? word.replace(marks, '').slice(0, 2 * MAX_WORD) : word).normalize('NFD').replace(marks, '');
const marks = /\p{M}+/gu;

/** Words that have to stand next to each other, in this order. */
export interface Term {
  words: string[];
  /** The last word is only the beginning of one. */
  prefix: boolean;
}

export interface SearchQuery {
  /** All of these have to be there; at least one. */
  wanted: Term[];
  /** None of these may be. */
  excluded: Term[];
}

/**
 * Reads a query: terms, `"a phrase"`, `-excluded`, `prefix*`. A word that splits, such as `retry_count`, is a phrase.
 * @throws Refusal `invalid_request` without a term that is wanted, with more than 16, or with a prefix of one letter or digit.
 */
export function parseQuery(text: string): SearchQuery {
  const query: SearchQuery = { wanted: [], excluded: [] };
  for (const match of text.matchAll(/(-?)(?:"([^"]*)"?|(\S+))/gu)) {
    const [, minus, phrase, bare = ''] = match;
    const prefix = phrase === undefined && bare.endsWith('*');
    const words = wordsOf(phrase ?? bare).map((word) => word.folded);
    if (words.length === 0) continue;
    if (prefix && [...words.join('')].length < 2) throw badQuery('a beginning of a word needs two letters or digits');
    (minus ? query.excluded : query.wanted).push({ words, prefix });
  }
  if (query.wanted.length === 0) throw badQuery('needs a word to look for');
  if (query.wanted.length + query.excluded.length > MAX_TERMS) throw badQuery(`has more than ${MAX_TERMS} terms`);
  return query;
}

const badQuery = (problem: string): Refusal =>
  invalidField('q', problem, 'Words are looked for together; "a phrase", -not this, begin*.');

/** Where the wanted terms stand in a text, in order, without overlaps. */
export function matchesIn(text: string, { wanted }: SearchQuery): [number, number][] {
  const words = wordsOf(text);
  const found: [number, number][] = [];
  for (let at = 0; at < words.length; ) {
    let length = 0;
    for (const term of wanted) if (startsAt(words, at, term)) length = Math.max(length, term.words.length);
    const [first, last] = [words[at], words[at + length - 1]];
    if (length > 0 && first && last) found.push([first.start, last.end]);
    at += Math.max(length, 1);
  }
  return found;
}

const startsAt = (words: readonly Word[], at: number, term: Term): boolean =>
  term.words.every((wanted, n) => {
    const word = words[at + n]?.folded;
    if (word === undefined) return false;
    return term.prefix && n === term.words.length - 1 ? word.startsWith(wanted) : word === wanted;
  });

const SNIPPET = 200;
/** How much of the line is shown before the first match. */
const LEAD = 60;

/** At most 200 characters of the line of the first match, and the matches within them as half-open UTF-16 ranges. */
export function snippetOf(text: string, matches: readonly [number, number][]) {
  const at = matches[0]?.[0] ?? 0;
  const lineStart = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
  const rest = text.slice(at).search(/[\r\n]/);
  const lineEnd = rest === -1 ? text.length : at + rest;
  let start = lineEnd - lineStart <= SNIPPET ? lineStart : Math.max(lineStart, at - LEAD);
  start = Math.max(lineStart, Math.min(start, lineEnd - SNIPPET));
  if (splitsPair(text, start)) start += 1;
  let end = Math.min(lineEnd, start + SNIPPET);
  if (splitsPair(text, end)) end -= 1;
  return {
    snippet: text.slice(start, end),
    matches: matches
      .filter(([from, to]) => from < end && to > start)
      .map(([from, to]): [number, number] => [Math.max(from, start) - start, Math.min(to, end) - start]),
  };
}

/** Whether a cut at this place would part a surrogate pair. */
const splitsPair = (text: string, at: number): boolean => /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) && at > 0;
