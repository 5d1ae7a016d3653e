/** Words and queries in the form each engine's full-text index takes. They hold only letters and digits, so nothing has to be escaped. */
import type { SearchQuery, Term } from './words.rules.ts';

/** Stands between two fields of one document, so that no phrase reaches across. A private-use character: no query has it. */
const GAP = '\u{E000}';
/** Postgres keeps no position beyond this one. */
const MAX_POSITION = 16_383;

/** For FTS5: the words of all fields, one after the other. @param fields words of each field. */
export const ftsText = (fields: readonly string[][]): string => fields.map((words) => words.join(' ')).join(` ${GAP} `);

/** For Postgres: a `tsvector` literal with the position of each word. */
export function tsvectorText(fields: readonly string[][]): string {
  const positions = new Map<string, number[]>();
  let at = 0;
  for (const words of fields) {
    for (const word of words) {
      at = Math.min(at + 1, MAX_POSITION);
      const known = positions.get(word);
      if (!known) positions.set(word, [at]);
      else if (known.length < 255 && known.at(-1) !== at) known.push(at);
    }
    at += 2;
  }
  return [...positions].map(([word, list]) => `'${word}':${list.join(',')}`).join(' ');
}

export function ftsQuery({ wanted, excluded }: SearchQuery): string {
  const term = ({ words, prefix }: Term): string => `"${words.join(' ')}"${prefix ? ' *' : ''}`;
  const all = wanted.map(term).join(' AND ');
  return excluded.length === 0 ? all : `(${all}) NOT (${excluded.map(term).join(' OR ')})`;
}

export function tsqueryText({ wanted, excluded }: SearchQuery): string {
  const term = ({ words, prefix }: Term): string =>
    `(${words.map((word, n) => `'${word}'${prefix && n === words.length - 1 ? ':*' : ''}`).join(' <-> ')})`;
  return [...wanted.map(term), ...excluded.map((each) => `!${term(each)}`)].join(' & ');
}
