/** The environment of server connections, based on the daemon's clock and log. */
import { sleepBy } from '../../client/time.ts';
import type { DaemonClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Environment } from './transport.ts';

/** @param version of this build, for the User-Agent */
export function createEnvironment(clock: DaemonClock, log: Log, version: string): Environment {
  // `now` advances with the monotonic clock, from the wall time of the start.
  const clockOffsetMs = clock.now() - clock.nowUs() / 1_000;
  return {
    now: () => clockOffsetMs + clock.nowUs() / 1_000,
    nowUs: () => clock.nowUs(),
    random: Math.random,
    userAgent: `service/${version}`,
    log: (...line) => log.write(...line),
    sleep: sleepBy((ms, run) => clock.after(ms, run)),
  };
}
