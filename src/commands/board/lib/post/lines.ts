/** Posts one message for each JSON line of standard input, in order. */
import { asProblem, Exit, forCommand, hintIfReplayed } from '../../../../cli/errors.ts';
import { patiently } from '../../../../cli/list.ts';
import type { Output } from '../../../../cli/output.ts';
import type { BoardSession } from '../../../../cli/session/open-session.ts';
import { hasPipedInput, stdinBytes, textLines } from '../../../../cli/stdin.ts';
import { ClientError } from '../../../../client/errors.ts';
import { newIdempotencyKey } from '../../../../client/idempotency.ts';
import type { BodyIn } from '../../../../contract/types.ts';
import { Failure, usage } from '../../../../local/failure.ts';
import { isRecord } from '../../../../local/private-file.ts';
import { findMessage } from '../read/references.ts';
import { checkLength } from './body.ts';
import type { PostOptions } from './flags.ts';
import { lineFields } from './post.ts';

interface Line extends Pick<BodyIn<'postMessage'>, (typeof lineFields)[number]> {
  key?: string;
}

const known = [...lineFields, 'key'];

/** Posts every line. Stops at the first that fails, or with `keep-going` at the end, with the first failure's exit code. */
export async function postLines(
  session: BoardSession,
  options: Pick<PostOptions, 'keep-going' | 'idempotency-key'>,
  out: Output,
): Promise<void> {
  if (!hasPipedInput(true))
    throw usage('--ndjson-in reads lines from a pipe or a file.', 'service say --ndjson-in < messages.ndjson');
  const base = options['idempotency-key'] ?? newIdempotencyKey();
  let failed: number | null = null;
  let number = 0;
  let tried = 0;
  for await (const text of textLines(stdinBytes(out, 'lines of JSON'))) {
    number++;
    if (text.trim() === '') continue;
    tried++;
    const code = await postLine(session, { text, number, base }, out);
    failed ??= code;
    if (code !== null && !options['keep-going']) break;
  }
  if (tried === 0)
    throw new Failure('body_empty', 'There is no line to post.', { hint: 'The command before the pipe wrote nothing' });
  if (failed !== null) throw new Exit(failed);
}

/** One line; the exit code of its failure, or null. */
async function postLine(
  session: BoardSession,
  { text, number, base }: { text: string; number: number; base: string },
  out: Output,
): Promise<number | null> {
  const { client, board } = session;
  try {
    const { key, ...line } = parseLine(text);
    checkLength(line.body);
    const idempotencyKey = key ?? `${base}.${number}`;
    const { data, replayed } = await patiently(out)(async () => {
      const reply_to = line.reply_to === undefined ? undefined : (await findMessage(session, line.reply_to)).id;
      return client.call('postMessage', { params: { board }, body: { ...line, reply_to }, idempotencyKey });
    });
    out.each({ line: number, message: data, ...(replayed ? { replayed: true } : {}) });
    return null;
  } catch (error) {
    const fresh = 'the line a "key" that was not used yet';
    hintIfReplayed(error, fresh);
    if (error instanceof ClientError && error.code === 'idempotency_conflict')
      Object.assign(error, { hint: `Give ${fresh}` });
    const problem = asProblem(forCommand(error, 'service board post --help'));
    out.printError({ line: number, ...problem.body });
    return problem.exit;
  }
}

function parseLine(text: string): Line {
  let value: unknown;
  try {
    // PowerShell begins what it pipes with a mark.
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw wrong('The line is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('The line is not an object.');
  const line = value as Line;
  const unknown = Object.keys(line).find((field) => !known.includes(field));
  if (unknown) throw wrong(`The field "${unknown}" is not known.`);
  for (const file of Array.isArray(line.files) ? line.files : []) {
    if (!isRecord(file)) throw wrongFile('A file of the line is not an object.');
    const other = Object.keys(file).find((field) => field !== 'file' && field !== 'version');
    if (other) throw wrongFile(`The field "${other}" of files is not known.`);
  }
  if (typeof line.body !== 'string') throw wrong('The field "body" must be there, and be text.');
  if (!/\S/u.test(line.body)) throw new Failure('body_empty', 'The text of the line is empty.');
  if (line.reply_to !== undefined && typeof line.reply_to !== 'string')
    return { ...line, reply_to: String(line.reply_to) };
  return line;
}

const wrong = (message: string) =>
  usage(message, `A line is {"body":"…"}; it may also have ${known.slice(1).join(', ')}`);

const wrongFile = (message: string) => usage(message, 'A file is {"file":"fil_…"}; it may also have version');
