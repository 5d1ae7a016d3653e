/** From bytes to a JSON value of which nothing is left out silently. */
import { malformed } from '../limits.ts';

const MAX_DEPTH = 32;
const [QUOTE, ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x22, 0x5b, 0x5d, 0x7b, 0x7d];
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws Refusal `invalid_request` for what is no JSON, names a field twice, is nested too deep, or holds what no text of the record may. */
export function parseJson(bytes: Buffer): unknown {
  const text = attempt(() => decoder.decode(bytes));
  const names = namesIn(text);
  const value = attempt(() => JSON.parse(text) as unknown);
  if (checkValue(value) !== names) throw malformed('body', 'gives a field more than once');
  return value;
}

function attempt<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw malformed('body', 'is not JSON in UTF-8');
  }
}

/** Refuses what no text of the record may hold, wherever it stands. Answers how many fields there are. */
function checkValue(value: unknown): number {
  if (typeof value === 'string') checkText(value);
  if (typeof value !== 'object' || value === null) return 0;
  let fields = 0;
  if (Array.isArray(value)) {
    for (const item of value) fields += checkValue(item);
    return fields;
  }
  // Not by its entries: making a list of a hundred thousand takes longer than all else here.
  for (const key in value) {
    checkText(key);
    fields += 1 + checkValue((value as Record<string, unknown>)[key]);
  }
  return fields;
}

function checkText(text: string): void {
  if (text.includes('\0')) throw malformed('body', 'holds the character U+0000');
  if (!text.isWellFormed()) throw malformed('body', 'holds an unpaired surrogate');
}

/**
 * How many names of fields a JSON text holds: a parser keeps only the last of two that are the same. Before it is parsed,
 * since what is nested deep takes many times longer than another text of its length.
 *
 * @throws Refusal `invalid_request` for what is nested too deep
 */
function namesIn(text: string): number {
  let count = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === ARRAY || code === OBJECT) depth++;
    else if (code === ARRAY_END || code === OBJECT_END) depth--;
    else if (code === QUOTE) {
      at = endOfString(text, at);
      let next = at + 1;
      while (isSpace(text.charCodeAt(next))) next++;
      if (text[next] === ':') count++;
    }
    if (depth > MAX_DEPTH) throw malformed('body', `is nested deeper than ${MAX_DEPTH} levels`);
  }
  return count;
}

/** Where the string that begins here ends; the end of the text where it does not. */
function endOfString(text: string, open: number): number {
  let close = open;
  do {
    close = text.indexOf('"', close + 1);
    if (close < 0) return text.length;
  } while (isEscaped(text, close));
  return close;
}

/** After an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === '\\') before--;
  return (at - before) % 2 === 1;
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);
