/** The error of a swarm command that failed for some of its agents. */
import { plural } from '../../../cli/terminal/fields.ts';
import { EXIT_OF } from '../../../launch/codes.ts';
import { Failure } from '../../../local/failure.ts';
import type { Problem } from './look.ts';

/** @param agents all of them, with what went wrong for some. @throws Failure the first problem, with all in its details */
export function requireNoProblem(agents: readonly { name: string; problem: Problem | null }[]): void {
  const failed = agents.filter(({ problem }) => problem !== null);
  const [first] = failed;
  if (!first) return;
  const { code, message, hint } = first.problem!;
  const lines = failed.map(({ name, problem }) => `${name}: ${problem!.message}`);
  const others = agents.length - failed.length;
  const exit = EXIT_OF[code as keyof typeof EXIT_OF];
  throw new Failure(
    code,
    `${first.name}: ${message.replace(/\.?$/, '.')}${others > 0 ? ` ${plural(others, 'other', 'others')} went well.` : ''}`,
    {
      hint,
      details: { agents, ...(lines.length > 1 ? { lines } : {}) },
      ...(exit === undefined ? {} : { exit }),
    },
  );
}
