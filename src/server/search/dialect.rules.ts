/** Words and queries in the form each engine's full-text index takes. They hold only letters and digits, so nothing has to be escaped. */
import type { SearchQuery, Term } from './words.rules.ts';

/** Stands between two fields of one document, so that no phrase reaches across. A private-use character: no query has it. */
const GAP = '\u{E000}';
/** Postgres keeps no position beyond this one, and of each word no more than this many. */
const MAX_POSITION = 16_000;
const MAX_PLACES = 255;
/** Postgres takes no longer tsvector: bytes of its words; with positions three more of each word, and two of each position. */
const MAX_VECTOR = 1_048_575;

/** For FTS5: the words of all fields, one after the other. @param fields words of each field. */
export const ftsText = (fields: readonly string[][]): string => fields.map((words) => words.join(' ')).join(` ${GAP} `);

/** For Postgres. */
interface Vector {
  /** A `tsvector` literal: the words with their positions, or without where there are too many. */
  words: string;
  /** Then all words in order, a blank around each; else null. */
  phrases: string | null;
}

/**
 * The words of all fields with their positions, or, where those do not fit, the words and a text to look for phrases in.
 * Words that do not fit either are left out: Korean takes three times the bytes of its file once it is folded.
 */
export function vectorOf(fields: readonly string[][]): Vector {
  const positions = new Map<string, number[]>();
  let at = 0;
  let long = false;
  let bytes = 0;
  for (const words of fields) {
    for (const word of words) {
      at++;
      const known = positions.get(word);
      const more = known ? 0 : Buffer.byteLength(word);
      if (bytes + more > MAX_VECTOR) continue;
      bytes += more;
      if (known) known.push(at);
      else positions.set(word, [at]);
      long ||= at > MAX_POSITION || (known !== undefined && known.length > MAX_PLACES);
    }
    at += 2;
  }
  if (long || bytes + 3 * positions.size + 2 * at > MAX_VECTOR)
    return { words: [...positions.keys()].map((word) => `'${word}'`).join(' '), phrases: ` ${ftsText(fields)} ` };
  return { words: [...positions].map(([word, list]) => `'${word}':${list.join(',')}`).join(' '), phrases: null };
}

export function ftsQuery({ wanted, excluded }: SearchQuery): string {
  const term = ({ words, prefix }: Term): string => `"${words.join(' ')}"${prefix ? ' *' : ''}`;
  const all = wanted.map(term).join(' AND ');
  return excluded.length === 0 ? all : `(${all}) NOT (${excluded.map(term).join(' OR ')})`;
}

const lexemes = ({ words, prefix }: Term): string[] =>
  words.map((word, n) => `'${word}'${prefix && n === words.length - 1 ? ':*' : ''}`);

export function tsqueryText({ wanted, excluded }: SearchQuery): string {
  const term = (each: Term): string => `(${lexemes(each).join(' <-> ')})`;
  return [...wanted.map(term), ...excluded.map((each) => `!${term(each)}`)].join(' & ');
}

const isPhrase = ({ words }: Term): boolean => words.length > 1;

export const hasPhrase = ({ wanted, excluded }: SearchQuery): boolean => [...wanted, ...excluded].some(isPhrase);

/** For what has no positions: its words all have to be there, and what of the query's phrases has to stand in its text. */
interface LooseQuery {
  tsquery: string;
  /** With a blank before, and one after where the last word is a whole one. */
  wanted: string[];
  excluded: string[];
}

/** A query for documents that are kept as words and a text. */
export function looseQuery({ wanted, excluded }: SearchQuery): LooseQuery {
  const words = excluded.filter((term) => !isPhrase(term)).flatMap(lexemes);
  const phrase = ({ words: all, prefix }: Term): string => ` ${all.join(' ')}${prefix ? '' : ' '}`;
  return {
    tsquery: [...wanted.flatMap(lexemes), ...words.map((word) => `!${word}`)].join(' & '),
    wanted: wanted.filter(isPhrase).map(phrase),
    excluded: excluded.filter(isPhrase).map(phrase),
  };
}
