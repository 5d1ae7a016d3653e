/** What a hook may print: nothing, or one JSON object; and the text of a delivery, without anything that acts on a terminal. */
import type { Carry } from '../daemon/control/frames.ts';

/** The parts of a text for the agent in their order; empty where there is none. */
export const textFor = ({ nudge, bundle, notice }: Carry): string =>
  [nudge, bundle, notice].filter((part) => part).join('\n');

/** Control and tag characters stand in no text of ours; where one did, it would be seen. */
export const harmless = (text: string): string =>
  text.replaceAll(/[\0-\x08\x0b-\x1f\x7f-\x9f\u{e0000}-\u{e007f}]/gu, '\u{fffd}');

/** Context for the turn that runs or begins, in the words harnesses share. */
export const contextOutput = (event: string, text: string): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: harmless(text) } });

/** Writes all of a text, and resolves once it has left this process. */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** The one line on standard error that says why a hook did nothing. */
export function complain(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`service hook: ${harmless(message).replaceAll(/\s+/g, ' ').slice(0, 500)}\n`);
}
