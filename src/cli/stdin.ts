/** Reads text from standard input or a file: strict UTF-8 with a size limit, and only for commands that ask for it. */
import { createReadStream, fstatSync } from 'node:fs';
import { Failure, usage } from '../local/failure.ts';
import { diskReasons } from './errors.ts';
import type { Output } from './output.ts';

const PATIENCE_MS = 3000;
/** Most that is kept of an input, in UTF-16 units. Far above every limit of the service, so lengths stay exact. */
const MOST = 1_048_576;

type Bytes = AsyncIterable<Buffer>;

/** What was kept of a text, and what is known about the rest of it. */
export interface Taken {
  text: string;
  /** Line ends and characters that were read and let go before it. */
  lines: number;
  characters: number;
  /** Whether there was more behind it, which nobody read. */
  more: boolean;
}

/**
 * Whether something was piped or redirected in. A terminal and /dev/null hold nothing for us.
 * @param named by a `-` or a flag that is about it: else a socket holds nothing either, since programs give one to what they start without a text.
 */
export function hasPipedInput(named = false): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || (named && stat.isSocket());
  } catch {
    return false;
  }
}

/** The bytes of standard input. Says after a while what it waits for, to a person who may not know. */
export async function* stdinBytes(out: Output, what: string): AsyncGenerator<Buffer> {
  const timer = setTimeout(() => {
    if (process.stdin.isTTY) out.note(`Waiting for ${what}; end it with Ctrl-D.`);
  }, PATIENCE_MS);
  try {
    yield* process.stdin as Bytes;
  } finally {
    clearTimeout(timer);
  }
}

/** The bytes of a file given by name. */
export async function* fileBytes(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path) as Bytes;
  } catch (error) {
    // Thrown by the reader, not by the file.
    if (error instanceof Failure) throw error;
    throw usage(`The file ${path} cannot be read: ${reasonOf(error)}.`);
  }
}

/**
 * All of a text, from a file or with `-` from standard input; one that never ends is refused.
 *
 * @throws Failure `body_empty` where standard input has none, as that of a command that failed before the pipe
 */
export async function readWhole(path: string, out: Output, what: string): Promise<string> {
  const text = await readAny(path, out, what);
  if (path === '-' && !/\S/u.test(text))
    throw new Failure('body_empty', `Standard input has no text for ${what}.`, {
      hint: 'The file after < is empty, or the command before the pipe wrote nothing',
    });
  return text;
}

/** The same, also where standard input is empty. */
export async function readAny(path: string, out: Output, what: string): Promise<string> {
  const { text, more } = await takeText(path === '-' ? stdinBytes(out, what) : fileBytes(path), 'head');
  if (more) throw usage(`There is more to read than ${what} may be.`);
  return text;
}

/** The head of a text, read no further than it is kept, or its tail, for which the rest is counted and let go. */
export async function takeText(source: Bytes, keep: 'head' | 'tail'): Promise<Taken> {
  const taken: Taken = { text: '', lines: 0, characters: 0, more: false };
  for await (const piece of pieces(source)) {
    taken.text += piece;
    if (taken.text.length <= MOST) continue;
    if (keep === 'head') return { ...taken, more: true };
    letGo(taken, taken.text.length - MOST / 2);
  }
  return { ...taken, text: withoutLastLineEnd(taken.text) };
}

function letGo(taken: Taken, units: number): void {
  // Never between the two halves of one character.
  const inside = /[\udc00-\udfff]/.test(taken.text[units] as string);
  const cut = inside ? units + 1 : units;
  for (const character of taken.text.slice(0, cut)) {
    taken.characters++;
    if (character === '\n') taken.lines++;
  }
  taken.text = taken.text.slice(cut);
}

/** Lines as they come; one that never ends is refused. */
export async function* textLines(source: Bytes): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces(source)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() as string;
    yield* lines;
    if (rest.length > MOST) throw usage(`A line on standard input is longer than ${MOST} characters.`);
  }
  if (rest !== '') yield rest;
}

/** Text in pieces of whole characters. */
async function* pieces(source: Bytes): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  let at = 0;
  for await (const part of source) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, part]) : part;
    const end = wholeCharacters(bytes);
    yield decode(bytes.subarray(0, end), at);
    at += end;
    rest = bytes.subarray(end);
  }
  yield decode(rest, at);
}

/** How many of the bytes are before a last character that may go on in the next ones. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < size ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function withoutLastLineEnd(text: string): string {
  return text.endsWith('\r\n') ? text.slice(0, -2) : text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Strict UTF-8; anything else is refused with the place where it stops being text, counted from `start`. */
export function decode(bytes: Buffer, start = 0): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const offset = start + firstInvalid(bytes);
    throw new Failure('invalid_utf8', `The text is not UTF-8: byte ${offset} cannot stand there.`, {
      hint: 'Convert it first, or attach it as a file',
      details: { offset },
    });
  }
}

/** A prefix that decodes as far as it goes is text so far; that turns false at one place only. */
function firstInvalid(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decodesSoFar(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function decodesSoFar(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
};

/** The reason of an error of the file system; its code where there are no words for it. */
export function reasonOf(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return reasons[code] ?? diskReasons[code]?.[0] ?? code;
}
