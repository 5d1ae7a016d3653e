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
  const foldedOf = cached(fold);
  eachWord(text, (start, end) => {
    const folded = foldedOf(text.slice(start, end));
    if (folded !== '') words.push({ folded, start, end });
  });
  return words;
}

/** Calls back for each run of letters and digits: of a long text nothing is made but what `found` makes. */
function eachWord(text: string, found: (start: number, end: number) => void): void {
  let start = -1;
  for (let at = 0; at < text.length; ) {
    const size = wordCharacterAt(text, at);
    if (size > 0 && start === -1) start = at;
    if (size < 0 && start !== -1) {
      found(start, at);
      start = -1;
    }
    at += Math.abs(size);
  }
  if (start !== -1) found(start, text.length);
}

/** Of each UTF-16 unit that was met: 1 if words have it, else -1. */
const sizes = new Int8Array(0x10000);

/** How many UTF-16 units the character at this place has; negative if no word has it. */
function wordCharacterAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = sizes[unit] as number;
  if (known !== 0) return known;
  const character = String.fromCodePoint(text.codePointAt(at) as number);
  const size = /[\p{L}\p{N}\p{M}]/u.test(character) ? character.length : -character.length;
  // What the first half of a pair begins depends on the second.
  if (unit < 0xd800 || unit > 0xdfff) sizes[unit] = size;
  return size;
}

/** Works out each value once. */
function cached<Key, Value>(work: (key: Key) => Value): (key: Key) => Value {
  const kept = new Map<Key, Value>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const value = work(key);
    kept.set(key, value);
    return value;
  };
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

/** Where the wanted terms stand in a text, without overlaps. */
interface Matches {
  count: number;
  /** Those that a snippet may show, in order, as half-open UTF-16 ranges. */
  first: [number, number][];
}

/** Finds the wanted terms in one pass over the text and one of each term over its words. */
export function matchesIn(text: string, { wanted }: SearchQuery): Matches {
  const words = numbered(text, wanted);
  const lengths = new Uint16Array(words.count);
  for (const term of wanted) markTerm(words, term, lengths);
  const matches: Matches = { count: 0, first: [] };
  for (let at = 0; at < words.count; ) {
    const length = lengths[at] as number;
    if (length > 0) {
      matches.count++;
      const [start, end] = [words.starts[at] as number, words.ends[at + length - 1] as number];
      if (start < (matches.first[0]?.[0] ?? start) + SNIPPET) matches.first.push([start, end]);
    }
    at += Math.max(length, 1);
  }
  return matches;
}

/** The words of a text as numbers: those that a query may mean have one each, all others are 0. */
interface Numbered {
  count: number;
  numbers: Uint32Array;
  /** Half-open ranges in the text. */
  starts: Uint32Array;
  ends: Uint32Array;
  /** The word of each number. */
  folded: string[];
}

function numbered(text: string, wanted: readonly Term[]): Numbered {
  const most = (text.length + 1) >> 1;
  const words = {
    count: 0,
    numbers: new Uint32Array(most),
    starts: new Uint32Array(most),
    ends: new Uint32Array(most),
  };
  const folded = ['', ...new Set(wanted.flatMap((term) => term.words))];
  const asked = new Map(folded.map((word, number) => [word, number]));
  const prefixes = wanted.filter(({ prefix }) => prefix).map((term) => term.words.at(-1) as string);
  const numberOf = cached((word: string): number => {
    const compared = fold(word);
    if (compared === '') return -1;
    const number = asked.get(compared);
    if (number !== undefined) return number;
    return prefixes.some((one) => compared.startsWith(one)) ? folded.push(compared) - 1 : 0;
  });
  // Most words are none of them by their first character.
  const letters = new Set(folded.map((word) => word.charCodeAt(0)));
  const mayBegin = cached((character: number): boolean => {
    const first = fold(String.fromCodePoint(character));
    return first === '' || letters.has(first.charCodeAt(0));
  });
  eachWord(text, (start, end) => {
    const number = mayBegin(text.codePointAt(start) as number) ? numberOf(text.slice(start, end)) : 0;
    if (number === -1) return;
    words.numbers[words.count] = number;
    words.starts[words.count] = start;
    words.ends[words.count] = end;
    words.count++;
  });
  return { ...words, folded };
}

/** Notes at which words a term begins, where no longer one does. Goes back in no word: by the way of Knuth, Morris and Pratt. */
function markTerm({ count, numbers, folded }: Numbered, { words, prefix }: Term, lengths: Uint16Array): void {
  const last = words.length - 1;
  const wanted = Uint32Array.from(words, (word) => folded.indexOf(word));
  const ending = words[last] as string;
  const fits = (n: number, number: number): boolean =>
    number === wanted[n] || (prefix && n === last && number !== 0 && (folded[number] as string).startsWith(ending));
  /** Of so many words of the term that were found: how many of the last ones begin it too. */
  const again = new Uint32Array(words.length + 1);
  const goOn = (from: number, number: number): number => {
    let have = from;
    while (have > 0 && !fits(have, number)) have = again[have] as number;
    return fits(have, number) ? have + 1 : 0;
  };
  for (let n = 1; n < last; n++) again[n + 1] = goOn(again[n] as number, wanted[n] as number);
  for (let at = 0, have = 0; at < count; at++) {
    const number = numbers[at] as number;
    have = number === 0 ? 0 : goOn(have, number);
    if (have <= last) continue;
    const start = at - last;
    if ((lengths[start] as number) < have) lengths[start] = have;
    have = last === 0 ? 0 : goOn(again[last] as number, number);
  }
}

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
