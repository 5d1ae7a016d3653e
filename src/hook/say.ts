/** What a hook may print: nothing, or one JSON object; and the text of a delivery, with control characters escaped. */
import { replaceInvisible } from '../daemon/bundle/invisible.ts';
import { confirmReceived } from '../daemon/control/ask.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { Carry } from '../daemon/protocol.ts';

/** The parts of a text for the agent, in order; empty if there is none. */
export const textFor = ({ nudge, bundle, notice }: Carry): string =>
  [nudge, bundle, notice].filter((part) => part).join('\n');

/** Additional context for the current or next turn, in the JSON form that harnesses share. */
export const contextOutput = (event: string, text: string): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: replaceInvisible(text) } });

/** Writes all of a text, and resolves once it has left this process. */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Prints a text for the agent, formatted by `output`, then confirms to the daemon that it was received.
 * @returns false if there is no text
 */
export async function deliver(
  carry: Carry,
  connection: Connection,
  output: (text: string) => string,
  stream = process.stdout as NodeJS.WriteStream,
): Promise<boolean> {
  const text = textFor(carry);
  if (text === '') return false;
  await write(stream, `${output(text)}\n`);
  if (carry.handoff_id) await confirmReceived(connection, carry.handoff_id);
  return true;
}

/** The one line on standard error that says why a hook did nothing. */
export function reportError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`service hook: ${replaceInvisible(message).replaceAll(/\s+/g, ' ').slice(0, 500)}\n`);
}
