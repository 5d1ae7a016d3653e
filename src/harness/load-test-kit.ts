/**
 * Loads the kit that tests a profile. The kit is in `tools/harness-kit`; the build packs it into its own file,
 * which only `service harness` loads.
 */
import { loadPacked } from '../local/program.ts';
import type { Profile } from './profile.ts';

/** The result of a check. */
export interface Verdict {
  harness: string;
  version: string;
  check: string;
  result: 'pass' | 'fail' | 'n/a';
  reason?: string;
  /** ISO 8601, in UTC. */
  at: string;
}

/** Options of the fake agent program. */
export interface StandIn {
  profile: Profile;
  /** The settings file that was written for this harness. */
  settings: string;
  /** State folder of our program. */
  state: string;
  /** The folder of the fake programs' queue. */
  folder: string;
  /** Runtime and entry file of our program. */
  program: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export interface Kit {
  /** The ids of all checks, in the order in which they run. */
  checks: readonly string[];
  /** Runs the checks in an environment of their own. @param options.only runs a single check */
  run(
    profile: Profile,
    options: { program: string[]; only?: string; onVerdict(verdict: Verdict): void },
  ): Promise<Verdict[]>;
  /** Whether a harness with these verdicts may be called supported. */
  isSupported(verdicts: readonly Verdict[]): boolean;
  /** Runs a fake agent program, which performs the steps on standard input until that ends. */
  standIn(options: StandIn): Promise<void>;
}

export const loadKit = async (): Promise<Kit> =>
  (await loadPacked<{ kit: Kit }>('harness-kit', '../tools/harness-kit/kit')).kit;
