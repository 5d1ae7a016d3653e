/** Escapes senders' text: it can neither close or open our tags, nor look like our own lines, nor control a terminal. */
import { shellArgument } from '../../contract/text.ts';
import { replaceInvisible } from './invisible.ts';
import { isBracket, skeleton } from './look-alikes.ts';

/** For attribute values: one line, at most 200 characters. */
export const attribute = (value: string): string => inLine(value, 200);

/** For our own lines that quote a sender: one line, at most 120 characters. */
export const quoted = (value: string): string => inLine(value, 120);

/** For our own lines that give the server's words: one line, at most 400 characters. */
export const quotedLong = (text: string): string =>
  (
    [...text]
      .slice(0, 400)
      .join('')
      .match(/[\s\S]{1,100}/gu) ?? []
  )
    .map(quoted)
    .join('');

/** For an argument in a command that we propose: one word in every shell. */
export const shellWord = (value: string): string => shellArgument(quoted(value));

/** How many bytes a text has in UTF-8. */
export const bytesOf = (text: string): number => encoder.encode(text).length;

/** The beginning of a text in at most so many bytes; a character cut in half is left out. */
export function firstBytes(text: string, bytes: number): string {
  const all = encoder.encode(text);
  if (all.length <= bytes) return text;
  return new TextDecoder().decode(all.subarray(0, bytes)).replace(/\u{fffd}$/u, '');
}

const encoder = new TextEncoder();

/**
 * For bodies: CRLF becomes LF; what acts on a terminal or is not seen becomes U+FFFD; whatever looks like the beginning
 * or end of a tag that means something to a reader loses its bracket; a line that looks like one of ours is quoted.
 *
 * @param reserved further tag names, such as a harness's own.
 * @param withinTime asked now and then.
 * @returns null once it was no longer in time
 */
export function body(text: string, reserved: readonly string[] = [], withinTime?: () => boolean): string | null {
  const tags = reserved.length === 0 ? ourTags : [...ourTags, ...reserved.map(skeleton)];
  return neutralize(replaceInvisible(text.replaceAll('\r\n', '\n')), tags, ourLines, withinTime);
}

const ourTags = ['service-'].map(skeleton);
const ourLines = ['service:'].map(skeleton);

/** How much of a text is read between two looks at the time. */
const TIME_CHECK_CHARACTERS = 4_096;

/** Removes the brackets from text that looks like one of these tags, and quotes lines that start like one of these prefixes. */
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

/** Marks, what stands for the unseen, and what looks blank: in a line all but its end, in a tag its slash as well. */
const ignoredInLine = /[\p{M}\u{fffd}\t\p{Zs}\u{2800}\u{1d159}]*/uy;
const ignoredInTag = /[\p{M}\u{fffd}\s\u{2800}\u{1d159}/]*/uy;

/**
 * Whether the text at a place looks like one of the names. It reads to the next bracket or line at most, so that the
 * time stays linear.
 *
 * @param ignored what is passed over, before the name and in it.
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
  const line = [...replaceInvisible(value.replaceAll(/[\r\n\t\u2028\u2029]+/g, ' '))].slice(0, max).join('');
  // Brackets that only look like one are left.
  return neutralize(line.replace(/[&<>"]/g, entity), ourTags, []) ?? '';
}
