/** The conformance kit: proves what a profile declares, without an AI. */
import type { Profile } from '../profile.ts';
import { type Check, NEWEST, Seats } from './check.ts';
import { crashCheck } from './crash-check.ts';
import { deliveryChecks } from './delivery-checks.ts';
import { identityCheck } from './identity-check.ts';
import { leakCheck } from './leak-check.ts';
import { lifeChecks } from './life-checks.ts';
import { pairingCheck } from './pairing-check.ts';
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
export const allChecks: readonly Check[] = [
  ...setupChecks,
  identityCheck,
  ...deliveryChecks,
  ...lifeChecks,
  crashCheck,
  pairingCheck,
  leakCheck,
  uninstallCheck,
];

/** Those that a harness has to pass to be called supported. */
export const baseline = ['profile', 'init', 'uninstall', 'identity', 'modes', 'leak'];

/** Runs the checks on a machine of their own. @param only the one that is wanted, with what it needs. */
export async function runKit(
  profile: Profile,
  { program, only, told }: { program: string[]; only?: string | undefined; told(verdict: Verdict): void },
): Promise<Verdict[]> {
  const world = new KitWorld(profile, program, NEWEST);
  const seats = new Seats(world);
  const verdicts: Verdict[] = [];
  try {
    for (const check of allChecks) {
      const wanted = only === undefined || check.id === only;
      // Entries have to be there for everything that follows, and for being taken away.
      if (!wanted && check.id !== 'init') continue;
      const verdict = await judge(check, world, seats);
      if (!wanted) continue;
      verdicts.push(verdict);
      told(verdict);
    }
  } finally {
    await world.close();
  }
  return verdicts;
}

async function judge(check: Check, world: KitWorld, seats: Seats): Promise<Verdict> {
  const { profile } = world;
  const about = { harness: profile.harness, version: NEWEST, check: check.id };
  const at = () => new Date().toISOString();
  if (!check.needs(profile)) return { ...about, result: 'n/a', reason: 'not declared by the profile', at: at() };
  try {
    await check.run(world, seats);
    return { ...about, result: 'pass', at: at() };
  } catch (error) {
    return { ...about, result: 'fail', reason: (error as Error).message, at: at() };
  }
}

/** Whether it may be called supported. */
export const isSupported = (verdicts: readonly Verdict[]): boolean =>
  verdicts.every(({ check, result }) => !baseline.includes(check) || result !== 'fail');
