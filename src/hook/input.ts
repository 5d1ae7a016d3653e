/** Reads the JSON that a harness passes to its hooks on standard input. */

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 2_000;

interface ToolCall {
  tool_name?: unknown;
  tool_input?: unknown;
}

/** Fields have the harnesses' names. Transcripts are named there too, but are never opened. */
export interface HookInput extends ToolCall {
  session_id?: unknown;
  hook_event_name?: unknown;
  cwd?: unknown;
  source?: unknown;
  turn_id?: unknown;
  stop_hook_active?: unknown;
  reason?: unknown;
  notification_type?: unknown;
  /** In an event about several calls. */
  tool_calls?: unknown;
  prompt?: unknown;
  [field: string]: unknown;
}

/** The JSON object on standard input. @throws Error if it is too large, too slow or not JSON */
export async function readInput(stream: NodeJS.ReadableStream = process.stdin, ms = TIMEOUT_MS): Promise<HookInput> {
  const text = await readAll(stream, ms);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('standard input is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('standard input is no object');
  return value as HookInput;
}

function readAll(stream: NodeJS.ReadableStream, ms: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const late = () => reject(new Error(`standard input was not complete within ${ms / 1000} seconds`));
    // What came while a busy system held up this process is read before it counts as late, however many pieces it is in.
    const look = () => {
      const before = bytes;
      setImmediate(() => (bytes > before ? look() : late()));
    };
    const timer = setTimeout(look, ms);
    stream.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > MAX_BYTES) reject(new Error('standard input is longer than 4 MiB'));
      else parts.push(part);
    });
    stream.on('error', reject);
    stream.on('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(parts).toString('utf8'));
    });
  });
}

/** The tool calls that an event is about. */
export const callsOf = (input: HookInput): ToolCall[] =>
  Array.isArray(input.tool_calls) ? (input.tool_calls as ToolCall[]) : [input];

/** A text field, cut to what a frame may contain; undefined if it is not text. */
export const textOf = (value: unknown, max: number): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, max) : undefined;

/** The id of the handoff that this prompt echoes, and the launch ticket in its first line. */
export function parseMarks(prompt: unknown): { handoff_id?: string; wake?: true; launch?: string } {
  if (typeof prompt !== 'string') return {};
  const [, handoff] = /\bhandoff="(hnd_[0-9a-f]{32})"/.exec(prompt) ?? [];
  const [, ticket] = /\b(lch_[0-9a-f]{24})\b/.exec(prompt.split('\n', 1)[0]!) ?? [];
  return { ...(handoff ? { handoff_id: handoff, wake: true } : {}), ...(ticket ? { launch: ticket } : {}) };
}

/** A text on one line, of at most so many characters. */
export const oneLine = (text: string, most: number): string =>
  [...text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()].slice(0, most).join('');
