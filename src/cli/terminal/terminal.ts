/**
 * The one way of text to standard output and standard error: nothing that somebody else wrote acts on the terminal, or reads
 * as ours or its program's to the agent that runs the command. Only what is data, byte for byte, goes past it, and only into a
 * pipe or a file.
 */
import { escapeUntrusted } from '../../contract/text.ts';
import type { Env } from '../../local/folders.ts';

/** Stands in our own colour codes until they are written, so that a text cannot bring any. A terminal ignores such numbers. */
let own: string | null = null;

/** Made with the first style. To load this module of Node takes longer than most commands without colours. */
function mark(): string {
  const { randomInt } = process.getBuiltinModule('node:crypto');
  own ??= Array.from({ length: 4 }, () => randomInt(1_000, 10_000)).join(';');
  return own;
}

/** A style of the colour library as one of ours. */
export const ownStyle =
  (style: (text: string) => string) =>
  (text: string): string =>
    style(harmless(text)).replaceAll(/\x1b\[(\d{1,2})m/g, (_, code) => `\x1b[${code};${mark()}m`);

/** A text in which control characters are shown instead of obeyed; our own colours stay. */
export function harmless(text: string, escaped = escapeUntrusted): string {
  if (own === null || !text.includes(own)) return escaped(text);
  return text
    .split(new RegExp(`(\x1b\\[\\d{1,2};${own}m)`))
    .map((part, i) => (i % 2 === 1 ? part : escaped(part)))
    .join('');
}

/** Further escapes what others wrote, where an agent reads it. */
let forAgent: ((text: string) => string) | null = null;

export function showToAgent(escaped: (text: string) => string): void {
  forAgent = escaped;
}

/**
 * A text as it is given to a terminal, or to a pager in front of it.
 * @param tagged it has tags and lines of ours for an agent, and what others wrote is escaped in it
 */
export function shown(text: string, tagged = false): string {
  const further = tagged ? null : forAgent;
  const safe = marked(further ? harmless(text, (part) => further(escapeUntrusted(part))) : harmless(text));
  return own === null ? safe : safe.replaceAll(`;${own}m`, 'm');
}

/** Text for a person or an agent. @param tagged see `shown` */
export function show(stream: NodeJS.WriteStream, text: string, tagged = false): void {
  stream.write(shown(text, tagged));
}

/** Goes to the beginning of the line of a terminal and erases it. */
export function eraseLine(stream: NodeJS.WriteStream): void {
  stream.write('\r\x1b[K');
}

/** Shows the cursor of a terminal again. */
export function showCursor(stream: NodeJS.WriteStream): void {
  stream.write('\x1b[?25h');
}

/** A record for programs. At a terminal what JSON leaves as it is, but a terminal obeys, is written as `\u009b`. */
export function showJson(record: unknown, indent?: number): void {
  const text = JSON.stringify(record, null, indent);
  process.stdout.write(`${process.stdout.isTTY ? text.replaceAll(actingInJson, unicode) : text}\n`);
}

const actingInJson = /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;
const unicode = (found: string): string =>
  found
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** Data of the result, such as the bytes of a file: as it is, unless a terminal would act on it. */
export function showData(data: string | Uint8Array): void {
  if (!process.stdout.isTTY) process.stdout.write(data);
  else show(process.stdout, typeof data === 'string' ? data : new TextDecoder().decode(data));
}

const ascii: Record<string, string> = { '·': '-', '→': '->', '…': '...', '’': "'" };

/** Whether the terminal reads UTF-8. A locale that nobody named says nothing against it. */
function readsUtf8(env: Env): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  return !locale || /utf-?8/i.test(locale);
}

/** A text with the marks this locale can show. */
export function marked(text: string, env: Env = process.env): string {
  return readsUtf8(env) ? text : text.replace(/[·→…’]/g, (mark) => ascii[mark]!);
}
