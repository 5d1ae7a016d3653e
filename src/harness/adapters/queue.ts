/** Adds a bundle to a program's own queue by running its command. */
import type { Adapter } from '../../daemon/adapter.ts';
import { type RunOptions, runProgram } from '../programs.ts';

const TIMEOUT_MS = 30_000;
/** Exit code for temporary failures (sysexits.h). */
const EX_TEMPFAIL = 75;

/** Exit code 0 confirms the receipt. A locked or busy program is tried again later, which is not a failed attempt. */
export async function giveToQueue(
  [program, ...args]: string[],
  options: Omit<RunOptions, 'ms'> & { ms?: number },
): ReturnType<Adapter['hand']> {
  const ran = await runProgram(program!, args, { ms: TIMEOUT_MS, ...options });
  if (ran.code === 0) return 'accepted_confirmed';
  if (ran.timedOut) return { retry: 'queue_timeout' };
  const said = ran.stderr || ran.stdout;
  if (ran.code === EX_TEMPFAIL || /\b(locked|busy|in use|try again)\b/i.test(said)) return { later: 'busy' };
  if (/not found|no rollout|no such (thread|session)|unknown thread/i.test(said))
    return { retry: 'harness_target_absent' };
  // The output may contain the bundle's text, so it is not recorded.
  return { retry: ran.code === null ? 'queue_unstartable' : `exit ${ran.code}` };
}
