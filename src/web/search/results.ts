/** Links and texts of search results. */
import type { SearchResult } from '../../contract/types.ts';
import { hrefOf } from '../state/route.ts';

/** The address of the message, task or file. */
export function hrefOfResult({ board, message, task, file }: SearchResult): string {
  if (message) return hrefOf({ screen: 'board', board, tab: 'talk', message: message.seq });
  if (task) return hrefOf({ screen: 'board', board, tab: 'tasks', task: task.ref });
  return hrefOf({ screen: 'board', board, tab: 'files', file: file?.name, version: file?.version });
}

/** Splits a text at matches. Ranges are half-open and sorted. */
export function splitMatches(
  text: string,
  matches: readonly (readonly [number, number])[],
): { text: string; match: boolean }[] {
  const found: { text: string; match: boolean }[] = [];
  let at = 0;
  for (const [start, end] of matches) {
    if (start > at) found.push({ text: text.slice(at, start), match: false });
    found.push({ text: text.slice(Math.max(start, at), end), match: true });
    at = Math.max(at, end);
  }
  found.push({ text: text.slice(at), match: false });
  return found.filter((piece) => piece.text !== '');
}
