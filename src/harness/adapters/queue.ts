/** Giving a bundle to a program's own queue, by one run of its command. */
import { type RunOptions, runProgram } from '../programs.ts';

const LONGEST_MS = 30_000;
/** Exit code of programs that cannot now but could later. */
const TEMPORARY = 75;

export type Queued = 'accepted_confirmed' | { retry: string } | { later: string };

/** Exit 0 is the receipt. A program that is locked or busy is asked again later, which is no failed attempt. */
export async function giveToQueue(
  [program, ...args]: string[],
  options: Omit<RunOptions, 'ms'> & { ms?: number },
): Promise<Queued> {
  const ran = await runProgram(program!, args, { ms: LONGEST_MS, ...options });
  if (ran.code === 0) return 'accepted_confirmed';
  if (ran.late) return { retry: 'the queue command did not end' };
  const said = oneLine(ran.stderr || ran.stdout);
  if (ran.code === TEMPORARY || /\b(locked|busy|in use|try again)\b/i.test(said)) return { later: said || 'busy' };
  if (/not found|no rollout|no such (thread|session)|unknown thread/i.test(said))
    return { retry: 'harness_target_absent' };
  return { retry: ran.code === null ? 'the queue command could not be run' : `exit ${ran.code}: ${said}` };
}

/** What a program said goes into a status, so it is short and holds no control characters. */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\0-\x1f\x7f-\x9f]+/g, ' ')
    .trim()
    .slice(0, 160);
