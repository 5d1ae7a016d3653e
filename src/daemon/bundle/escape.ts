/** Escapes senders' text, so that it cannot open or close our tags, imitate our own lines or control a terminal. */
import { shellArgument } from '../../contract/text.ts';
import { replaceInvisible } from './invisible.ts';
import { isBracket, skeleton } from './look-alikes.ts';

/** For attribute values: one line, at most 200 characters. */
export const attribute = (value: string): string => inLine(value, 200);

/** For our own lines that quote a sender: one line, at most 120 characters. */
export const quoted = (value: string): string => inLine(value, 120);

/** For our own lines that contain text of the server: one line, at most 400 characters. */
export const quotedLong = (text: string): string => inLine(text, 400);

/** For an argument in a suggested command: one word in every shell. */
export const shellWord = (value: string): string => shellArgument(quoted(value));

/** The length of a text in UTF-8 bytes. */
export const bytesOf = (text: string): number => encoder.encode(text).length;

/** The beginning of a text, at most `bytes` long; an incomplete character at the end is dropped. */
export function firstBytes(text: string, bytes: number): string {
  const all = encoder.encode(text);
  if (all.length <= bytes) return text;
  return new TextDecoder().decode(all.subarray(0, bytes)).replace(/\u{fffd}$/u, '');
}

/** The first characters of a text, without the joiner that a cut within an emoji or a word leaves at the end. */
export const firstCharacters = (text: string, count: number): string =>
  [...text]
    .slice(0, count)
    .join('')
    .replace(/\p{Join_Control}$/u, '');

const encoder = new TextEncoder();

/**
 * For bodies: CRLF becomes LF; control characters and needless invisible ones become U+FFFD; the bracket of text that
 * looks like a reserved tag is escaped; a line that looks like one of ours is quoted.
 *
 * @param reserved further reserved tag names, such as a harness's own
 * @param withinTime called repeatedly; false stops the work
 * @returns null if it was stopped
 */
export function body(text: string, reserved: readonly string[] = [], withinTime?: () => boolean): string | null {
  const tags = reserved.length === 0 ? ourTags : [...ourTags, ...reserved.map(skeleton)];
  return neutralize(replaceInvisible(text.replaceAll('\r\n', '\n')), tags, ourLines, withinTime);
}

const ourTags = ['service-'].map(skeleton);
const ourLines = ['service:'].map(skeleton);

/** Number of characters between two calls of `withinTime`. */
const TIME_CHECK_CHARACTERS = 4_096;

/** Escapes the brackets of text that looks like one of these tags; quotes lines that look like these prefixes. */
function neutralize(
  text: string,
  tags: readonly string[],
  lines: readonly string[],
  withinTime = (): boolean => true,
): string | null {
  const parts: string[] = [];
  let copied = 0;
  let startsLine = true;
  for (let at = 0; at < text.length; at++) {
    if (at % TIME_CHECK_CHARACTERS === TIME_CHECK_CHARACTERS - 1 && !withinTime()) return null;
    const point = text.codePointAt(at)!;
    if (startsLine && startsWithName(text, at, lines, ignoredInLine)) {
      parts.push(text.slice(copied, at), '> ');
      copied = at;
    }
    startsLine = point === 0x0a || point === 0x2028 || point === 0x2029;
    if (!isBracket(point)) continue;
    const after = at + (point > 0xffff ? 2 : 1);
    if (startsWithName(text, after, tags, ignoredInTag)) {
      parts.push(text.slice(copied, at), '&lt;');
      copied = after;
    }
  }
  return parts.join('') + text.slice(copied);
}

/** Combining marks, joiners, U+FFFD and blank characters; in a line except line ends, in a tag also the slash. */
const ignoredInLine = /[\p{M}\p{Join_Control}\u{fffd}\t\p{Zs}\u{2800}\u{1d159}]*/uy;
const ignoredInTag = /[\p{M}\p{Join_Control}\u{fffd}\s\u{2800}\u{1d159}/]*/uy;

/**
 * Whether the text at a position looks like one of the names. Reads to the next bracket or line end at most, so that the
 * total time stays linear.
 *
 * @param ignored characters to skip before and within the name
 */
function startsWithName(text: string, from: number, names: readonly string[], ignored: RegExp): boolean {
  let read = '';
  for (let at = from; ; ) {
    ignored.lastIndex = at;
    ignored.test(text);
    at = ignored.lastIndex;
    if (at === text.length) return false;
    const character = String.fromCodePoint(text.codePointAt(at)!);
    at += character.length;
    const as = skeleton(character);
    if (read === '' && as === '/') continue;
    read += as;
    if (names.some((name) => read.startsWith(name))) return true;
    if (!names.some((name) => name.startsWith(read))) return false;
  }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const entity = (character: string): string => entities[character] ?? character;

function inLine(value: string, max: number): string {
  const whole = replaceInvisible(value.replaceAll(/[\r\n\t\u2028\u2029]+/g, ' '));
  const line = firstCharacters(whole, max);
  // Real brackets are entities by now; look-alikes remain.
  return neutralize(line.replace(/[&<>"]/g, entity), ourTags, []) ?? '';
}
