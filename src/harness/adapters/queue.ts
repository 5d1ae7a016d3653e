/** Giving a bundle to a program's own queue, by one run of its command. */
import { type RunOptions, runProgram } from '../programs.ts';

const LONGEST_MS = 30_000;
/** Exit code of programs that cannot now but could later. */
const TEMPORARY = 75;

type Queued = 'accepted_confirmed' | { retry: string } | { later: string };

/** Exit 0 is the receipt. A program that is locked or busy is asked again later, which is no failed attempt. */
export async function giveToQueue(
  [program, ...args]: string[],
  options: Omit<RunOptions, 'ms'> & { ms?: number },
): Promise<Queued> {
  const ran = await runProgram(program!, args, { ms: LONGEST_MS, ...options });
  if (ran.code === 0) return 'accepted_confirmed';
  if (ran.late) return { retry: 'queue_timeout' };
  const said = ran.stderr || ran.stdout;
  if (ran.code === TEMPORARY || /\b(locked|busy|in use|try again)\b/i.test(said)) return { later: 'busy' };
  if (/not found|no rollout|no such (thread|session)|unknown thread/i.test(said))
    return { retry: 'harness_target_absent' };
  // Its output may repeat the text that it was given, so it is not kept.
  return { retry: ran.code === null ? 'queue_unstartable' : `exit ${ran.code}` };
}
