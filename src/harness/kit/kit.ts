/** The conformance kit: proves what a profile declares, without an AI. */
import type { Profile } from '../profile.ts';
import type { Check } from './check.ts';
import { deliveryChecks } from './delivery-checks.ts';
import { lifeChecks } from './life-checks.ts';
import { setupChecks, uninstallCheck } from './setup-checks.ts';
import { KitWorld } from './world.ts';

export interface Verdict {
  harness: string;
  version: string;
  check: string;
  result: 'pass' | 'fail' | 'n/a';
  reason?: string;
  at: string;
}

/** In the order in which they run. */
export const allChecks: readonly Check[] = [...setupChecks, ...deliveryChecks, ...lifeChecks, uninstallCheck];

/** Those that a harness has to pass to be called supported. */
export const baseline = ['profile', 'init', 'uninstall', 'identity', 'modes', 'leak'];

/** The version that the stand-in of a program says it is: newer than everything the profile knows of. */
const NEWEST = '999.0.0';

/** Runs the checks on a machine of their own. @param only the one that is wanted, with what it needs. */
export async function runKit(
  profile: Profile,
  { program, only, told }: { program: string[]; only?: string | undefined; told(verdict: Verdict): void },
): Promise<Verdict[]> {
  const world = new KitWorld(profile, program, NEWEST);
  const verdicts: Verdict[] = [];
  try {
    for (const check of allChecks) {
      const wanted = only === undefined || check.id === only;
      // Entries have to be there for everything that follows, and for being taken away.
      if (!wanted && check.id !== 'init') continue;
      const verdict = await judge(check, world);
      if (!wanted) continue;
      verdicts.push(verdict);
      told(verdict);
    }
  } finally {
    await world.close();
  }
  return verdicts;
}

async function judge(check: Check, world: KitWorld): Promise<Verdict> {
  const { profile } = world;
  const about = { harness: profile.harness, version: NEWEST, check: check.id };
  const at = () => new Date().toISOString();
  if (!check.needs(profile)) return { ...about, result: 'n/a', reason: 'not declared by the profile', at: at() };
  try {
    await check.run(world, NEWEST);
    return { ...about, result: 'pass', at: at() };
  } catch (error) {
    return { ...about, result: 'fail', reason: (error as Error).message, at: at() };
  }
}

/** Whether it may be called supported. */
export const isSupported = (verdicts: readonly Verdict[]): boolean =>
  verdicts.every(({ check, result }) => !baseline.includes(check) || result !== 'fail');
