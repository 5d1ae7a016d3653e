/** The steps of `service setup` and how they are shown. */
import type { z } from 'zod';
import { called } from '../../../cli/runtime.ts';
import { readable } from '../../../cli/terminal/table.ts';
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

/** Where the texts begin. */
const COLUMN = 24;

const marks = { done: 'done', needs_you: 'needs you', waiting: 'waiting', failed: 'failed' } as const;

/** Each step with its text, and the command to run below it. */
export const stepLines = (steps: readonly Step[]): string =>
  steps
    .flatMap(({ name, state, text, next }) => [
      ...readable(called(text), COLUMN).map(
        (line, i) => (i === 0 ? `${name.padEnd(12)} ${marks[state].padEnd(10)} ` : ' '.repeat(COLUMN)) + line,
      ),
      ...(next === undefined ? [] : [' '.repeat(COLUMN) + called(next)]),
    ])
    .join('\n');
