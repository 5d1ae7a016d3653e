/** The conformance kit: proves what a profile declares, without an AI. */
import type { Kit, Verdict } from '../../src/harness/load-test-kit.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { type Check, NEWEST, Seats } from './check.ts';
import { crashCheck } from './crash-check.ts';
import { deliveryChecks } from './delivery-checks.ts';
import { serveSteps } from './fake-main.ts';
import { identityCheck } from './identity-check.ts';
import { leakCheck } from './leak-check.ts';
import { lifeChecks } from './life-checks.ts';
import { pairingCheck } from './pairing-check.ts';
import { setUp, setupChecks, uninstallCheck } from './setup-checks.ts';
import { KitWorld } from './world.ts';

const allChecks: readonly Check[] = [
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
const baseline = ['profile', 'init', 'uninstall', 'identity', 'modes', 'leak'];

export const kit: Kit = {
  checks: allChecks.map(({ id }) => id),
  run: runKit,
  isSupported: (verdicts) => verdicts.every(({ check, result }) => !baseline.includes(check) || result !== 'fail'),
  standIn: serveSteps,
};

async function runKit(profile: Profile, { program, only, told }: Parameters<Kit['run']>[1]): Promise<Verdict[]> {
  const world = new KitWorld(profile, program, NEWEST);
  const seats = new Seats(world);
  const verdicts: Verdict[] = [];
  try {
    for (const check of allChecks) {
      if (only !== undefined && check.id !== only) continue;
      const verdict = await judge(check, world, seats, only);
      verdicts.push(verdict);
      told(verdict);
    }
  } finally {
    await world.close();
  }
  return verdicts;
}

/** Entries have to be there for everything that follows them, and all of them for being taken away. */
async function prepare({ id }: Check, world: KitWorld, only: string | undefined): Promise<void> {
  if (only === undefined || world.profile.install.length === 0 || ['profile', 'init'].includes(id)) return;
  if (id === 'uninstall') await setUp(world, 'project');
  await setUp(world, 'global');
}

async function judge(check: Check, world: KitWorld, seats: Seats, only: string | undefined): Promise<Verdict> {
  const { profile } = world;
  const about = { harness: profile.harness, version: NEWEST, check: check.id };
  const at = () => new Date().toISOString();
  if (!check.needs(profile)) return { ...about, result: 'n/a', reason: 'not declared by the profile', at: at() };
  try {
    await prepare(check, world, only);
    await check.run(world, seats);
    return { ...about, result: 'pass', at: at() };
  } catch (error) {
    return { ...about, result: 'fail', reason: (error as Error).message, at: at() };
  }
}
