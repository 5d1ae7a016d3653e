/** What a hook may print: nothing, or one JSON object; and the text of a delivery, with control characters escaped. */
import { replaceInvisible } from '../daemon/bundle/invisible.ts';
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

/** The one line on standard error that says why a hook did nothing. */
export function reportError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`service hook: ${replaceInvisible(message).replaceAll(/\s+/g, ' ').slice(0, 500)}\n`);
}
