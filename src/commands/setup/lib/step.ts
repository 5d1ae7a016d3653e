/** The steps of `service setup` and how they are shown. */
import type { z } from 'zod';
import { called } from '../../../cli/runtime.ts';
import type { setupStep } from './shapes.ts';

export type Step = z.infer<typeof setupStep>;

export const step = (name: Step['name'], state: Step['state'], text: string, next?: string): Step => ({
  name,
  state,
  text,
  ...(next === undefined ? {} : { next }),
});

/** A step that went wrong, in the words of its error: its hint may be for somebody else. @throws what is no error of ours */
export function failed(name: Step['name'], error: unknown): Step {
  const { message, hint } = error as { message?: unknown; hint?: unknown };
  if (typeof hint !== 'string') throw error;
  return step(name, 'failed', `${message} ${hint}`.trimEnd());
}

const marks = { done: 'done', needs_you: 'needs you', waiting: 'waiting', failed: 'failed' } as const;

/** One line for each step, with the command to run below it. */
export const stepLines = (steps: readonly Step[]): string =>
  called(
    steps
      .flatMap(({ name, state, text, next }) => [
        `${name.padEnd(12)} ${marks[state].padEnd(10)} ${text}`,
        ...(next === undefined ? [] : [`${' '.repeat(24)}${next}`]),
      ])
      .join('\n'),
  );
