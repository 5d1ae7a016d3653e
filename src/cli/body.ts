/** The text of a message: where it comes from, and what is done to it before it is sent. */
import { Failure, usage } from '../local/failure.ts';
import type { Output } from './output.ts';
import { asText, hasPipedInput, readStdin, readTextFile } from './stdin.ts';

/** Most characters (code points) of a message; the server has the same limit. */
export const LIMIT = 32_768;

export interface BodySource {
  argument: string | undefined;
  file: string | undefined;
  out: Output;
}

/** The body: the argument, a file, or what is piped in. */
export async function readBody({ argument, file, out }: BodySource): Promise<string> {
  if (argument !== undefined && file !== undefined) throw usage('Give the text or --body-file, not both.');
  const text = await chosen(argument, file, out);
  if (!/\S/u.test(text))
    throw new Failure('body_empty', 'There is no text to post.', {
      hint: argument === undefined ? 'The command before the pipe wrote nothing' : '',
    });
  return text;
}

async function chosen(argument: string | undefined, file: string | undefined, out: Output): Promise<string> {
  if (file !== undefined && file !== '-') return readTextFile(file);
  if (argument !== undefined && argument !== '-') return argument;
  if (argument === '-' || file === '-' || hasPipedInput()) return asText(await readStdin(out, 'the text'));
  throw usage('Give the text as an argument, or pipe it in.', 'service say "Hello"');
}

/** Refuses a text over the limit before anything is sent. */
export function checkLength(text: string): string {
  const length = count(text);
  if (length <= LIMIT) return text;
  throw new Failure('message_too_large', `The text has ${length} characters; a message holds ${LIMIT}.`, {
    hint: 'Keep its end with --truncate tail, or its beginning with --truncate head',
    details: { limit: LIMIT, length },
  });
}

/** Puts a text into a code fence longer than any run of backticks in it. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Cuts a text to `limit` characters at line ends, keeping its head or tail, and says how much is missing. */
export function truncated(text: string, keep: 'head' | 'tail', limit: number): string {
  if (count(text) <= limit) return text;
  const lines = text.split('\n');
  const room = limit - 80;
  const kept: string[] = [];
  let used = 0;
  while (lines.length > 0) {
    const line = (keep === 'head' ? lines[0] : lines.at(-1)) as string;
    const size = count(line) + 1;
    if (used + size > room) break;
    used += size;
    if (keep === 'head') kept.push(lines.shift() as string);
    else kept.unshift(lines.pop() as string);
  }
  if (kept.length === 0) return oneLine(text, keep, room);
  const mark = `[${lines.length} lines, ${count(lines.join('\n'))} characters left out]`;
  return keep === 'head' ? `${kept.join('\n')}\n${mark}` : `${mark}\n${kept.join('\n')}`;
}

/** A single line longer than the limit has no line end to cut at. */
function oneLine(text: string, keep: 'head' | 'tail', room: number): string {
  const points = [...text];
  const mark = `[${points.length - room} characters left out]`;
  return keep === 'head' ? `${points.slice(0, room).join('')}\n${mark}` : `${mark}\n${points.slice(-room).join('')}`;
}

/** Unicode code points: what the server counts. */
export function count(text: string): number {
  let n = 0;
  for (const _ of text) n++;
  return n;
}
