/** Reads and prepares the text of a message. */
import type { Output } from '../../../../cli/output.ts';
import { fileBytes, hasPipedInput, stdinBytes, type Taken, takeText } from '../../../../cli/stdin.ts';
import { plural } from '../../../../cli/terminal/fields.ts';
import { codePoints, MAX_BODY } from '../../../../contract/text.ts';
import { Failure, missingArgument, usage } from '../../../../local/failure.ts';

interface BodySource {
  argument: string | undefined;
  file: string | undefined;
  /** Which end is needed of a text that is too long. */
  keep: 'head' | 'tail';
  out: Output;
}

/** Nothing of a text is missing. */
const COMPLETE = { lines: 0, characters: 0, more: false };

/** The body: the argument, a file, or what is piped in. */
export async function readBody(source: BodySource): Promise<Taken> {
  const { argument, file } = source;
  if (argument !== undefined && file !== undefined) throw usage('Give the text or --body-file, not both.');
  const taken = await chosen(source);
  if (taken.characters === 0 && !/\S/u.test(taken.text))
    throw new Failure('body_empty', 'There is no text to post.', {
      hint: hintFor(source),
    });
  return taken;
}

function hintFor({ argument, file }: BodySource): string {
  if (file !== undefined && file !== '-') return `${file} is empty; service board post --help`;
  return argument === undefined || argument === '-' ? 'The command before the pipe wrote nothing' : '';
}

async function chosen({ argument, file, keep, out }: BodySource): Promise<Taken> {
  if (file !== undefined && file !== '-') return takeText(fileBytes(file), keep);
  if (argument !== undefined && argument !== '-') return { ...COMPLETE, text: argument };
  if (argument === '-' || file === '-' || hasPipedInput()) return takeText(stdinBytes(out, 'the text'), keep);
  throw missingArgument('Give the text as an argument, or pipe it in.');
}

/** Refuses a text over the limit before anything is sent. */
export function checkLength(text: string, more = false): string {
  const length = codePoints(text);
  if (length <= MAX_BODY) return text;
  throw new Failure(
    'message_too_large',
    `The text has ${more ? 'more than ' : ''}${length} characters; a message holds ${MAX_BODY}.`,
    {
      hint: 'Keep its end with --truncate tail, or its beginning with --truncate head',
      details: { limit: MAX_BODY, length },
    },
  );
}

/** Puts a text into a code fence longer than any run of backticks in it. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * Cuts a text to `limit` characters, keeping its head or tail, and says how much is missing.
 *
 * @param beyond what is missing already.
 */
export function truncated(
  text: string,
  keep: 'head' | 'tail',
  limit: number,
  beyond: Omit<Taken, 'text'> = COMPLETE,
): string {
  if (beyond.characters === 0 && codePoints(text) <= limit) return text;
  const turned = (points: string[]): string[] => (keep === 'head' ? points : points.reverse());
  const points = turned([...text]);
  const end = cutAt(points, limit - 80);
  const kept = turned(points.slice(0, end)).join('');
  const left = points.slice(end);
  const lines = left.filter((point) => point === '\n').length + beyond.lines;
  // The line end at which it is cut is not missing.
  const missing = left.length - (left[0] === '\n' ? 1 : 0) + beyond.characters;
  const parts = [...(lines > 0 ? [plural(lines, 'line', 'lines')] : []), plural(missing, 'character', 'characters')];
  const mark = `[${beyond.more ? 'more than ' : ''}${parts.join(', ')} left out]`;
  return keep === 'head' ? `${kept}\n${mark}` : `${mark}\n${kept}`;
}

/** The last line end that leaves at least half of the room in use; without one, the whole room is used. */
function cutAt(points: readonly string[], room: number): number {
  if (points.length <= room) return points.length;
  const end = points.lastIndexOf('\n', room);
  return end < room / 2 ? room : end;
}
