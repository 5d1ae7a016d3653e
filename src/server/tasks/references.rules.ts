/** How tasks are named: selectors, references in texts, and the prefix a board begins with. */
import { maskCodeAndLinks } from '../../contract/mentions.ts';

/** A task as somebody named it on a board. */
export type Selector = { id: string } | { number: number } | { ref: string };

/** Reads a selector that has the form of one: a reference in any case, a number of this board, or an id. */
export function readSelector(text: string): Selector {
  if (/^\d+$/.test(text)) return { number: Number(text) };
  return text.startsWith('tsk_') ? { id: text } : { ref: text.toUpperCase() };
}

const reference = /(?<![\p{L}\p{N}_.\-@/\\])[A-Za-z][A-Za-z0-9]{1,5}-[1-9][0-9]{0,8}(?![\p{L}\p{N}_-])/gu;

/** What reads as a task reference in a text, upper-cased, each once, in order of appearance. Code and links do not count. */
export function referencesIn(text: string): string[] {
  if (!text.includes('-')) return [];
  return [...new Set([...maskCodeAndLinks(text).matchAll(reference)].map((match) => match[0].toUpperCase()))];
}

const MAX_PREFIX = 6;

/** Prefixes a board without one may take, in the order they are tried: from its name, then numbered, then cut shorter. */
export function* defaultPrefixes(boardName: string): Generator<string> {
  const letters = boardName
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, '')
    .slice(0, 3);
  const stem = letters.padEnd(2, 'X');
  yield stem;
  for (const [length, from] of [
    [3, 2],
    [2, 1_000],
    [1, 10_000],
  ] as const) {
    const cut = stem.slice(0, length);
    for (let n = from; `${cut}${n}`.length <= MAX_PREFIX; n++) yield `${cut}${n}`;
  }
}
