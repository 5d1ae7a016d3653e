/** From bytes to a JSON value of which nothing is left out silently. */
import { malformed } from '../limits.ts';

const MAX_DEPTH = 32;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws Refusal `invalid_request` for what is no JSON, names a field twice, or holds what no text of the record may. */
export function parseJson(bytes: Buffer): unknown {
  let text: string;
  let value: unknown;
  try {
    text = decoder.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw malformed('body', 'is not JSON in UTF-8');
  }
  if (checkValue(value, 0) !== namesIn(text)) throw malformed('body', 'gives a field more than once');
  return value;
}

/** Refuses what no text of the record may hold, wherever it stands. Answers how many fields there are. */
function checkValue(value: unknown, depth: number): number {
  if (typeof value === 'string') checkText(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= MAX_DEPTH) throw malformed('body', `is nested deeper than ${MAX_DEPTH} levels`);
  let fields = 0;
  if (Array.isArray(value)) {
    for (const item of value) fields += checkValue(item, depth + 1);
    return fields;
  }
  // Not by its entries: making a list of a hundred thousand takes longer than all else here.
  for (const key in value) {
    checkText(key);
    fields += 1 + checkValue((value as Record<string, unknown>)[key], depth + 1);
  }
  return fields;
}

function checkText(text: string): void {
  if (text.includes('\0')) throw malformed('body', 'holds the character U+0000');
  if (!text.isWellFormed()) throw malformed('body', 'holds an unpaired surrogate');
}

/** How many names of fields a JSON text holds: a parser keeps only the last of two that are the same. */
function namesIn(text: string): number {
  let count = 0;
  for (let open = text.indexOf('"'); open >= 0; ) {
    let close = text.indexOf('"', open + 1);
    while (isEscaped(text, close)) close = text.indexOf('"', close + 1);
    let next = close + 1;
    while (isSpace(text.charCodeAt(next))) next++;
    if (text[next] === ':') count++;
    open = text.indexOf('"', next);
  }
  return count;
}

/** After an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === '\\') before--;
  return (at - before) % 2 === 1;
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);
