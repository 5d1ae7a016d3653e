/** Links and texts of search results. */
import type { SearchResult } from '../../contract/types.ts';
import { plainText } from '../parts/plain-text.ts';
import { hrefOf } from '../state/route.ts';

/** The address of the message, task or file. */
export function hrefOfResult({ board, message, task, file }: SearchResult): string {
  if (message) return hrefOf({ screen: 'board', board, tab: 'talk', message: message.seq });
  if (task) return hrefOf({ screen: 'board', board, tab: 'tasks', task: task.ref });
  return hrefOf({ screen: 'board', board, tab: 'files', file: file?.name, version: file?.version });
}

/** Stands around each match until the markup between them is gone. */
const MARK = '\u0001';

/** Splits a text at matches, which are half-open and sorted ranges; Markdown loses its markup, unless a match stands in that. */
export function splitMatches(
  text: string,
  matches: readonly (readonly [number, number])[],
  markdown: boolean,
): { text: string; match: boolean }[] {
  const found: { text: string; match: boolean }[] = [];
  let at = 0;
  for (const [start, end] of matches) {
    if (start > at) found.push({ text: text.slice(at, start), match: false });
    found.push({ text: text.slice(Math.max(start, at), end), match: true });
    at = Math.max(at, end);
  }
  found.push({ text: text.slice(at), match: false });
  const marked = found.map((piece) => (piece.match ? MARK + piece.text + MARK : piece.text)).join('');
  const plain = plainText(marked).split(MARK);
  const pieces =
    markdown && !text.includes(MARK) && plain.length === marked.split(MARK).length
      ? plain.map((piece, index) => ({ text: piece, match: index % 2 === 1 }))
      : found;
  return pieces.filter((piece) => piece.text !== '');
}
