/** The conformance kit: tests without a model what a profile declares. */
import type { Kit, Verdict } from '../../src/harness/load-test-kit.ts';
import type { Profile } from '../../src/harness/profile.ts';
import { type Check, NEWEST, SharedSession } from './check.ts';
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

/** The checks that a supported harness must not fail. */
const required = ['profile', 'init', 'uninstall', 'identity', 'modes', 'leak'];

export const kit: Kit = {
  checks: allChecks.map(({ id }) => id),
  run: runKit,
  isSupported: (verdicts) => verdicts.every(({ check, result }) => !required.includes(check) || result !== 'fail'),
  standIn: serveSteps,
};

async function runKit(profile: Profile, { program, only, onVerdict }: Parameters<Kit['run']>[1]): Promise<Verdict[]> {
  const world = new KitWorld(profile, program, NEWEST);
  const sessions = new SharedSession(world);
  const verdicts: Verdict[] = [];
  try {
    for (const check of allChecks) {
      if (only !== undefined && check.id !== only) continue;
      const verdict = await runCheck(check, world, sessions, only);
      verdicts.push(verdict);
      onVerdict(verdict);
    }
  } finally {
    await world.close();
  }
  return verdicts;
}

/** Installs what the check needs, if the checks that install it are not run. */
async function prepare({ id }: Check, world: KitWorld, only: string | undefined): Promise<void> {
  if (only === undefined || world.profile.install.length === 0 || ['profile', 'init'].includes(id)) return;
  if (id === 'uninstall') await setUp(world, 'project');
  await setUp(world, 'global');
}

async function runCheck(
  check: Check,
  world: KitWorld,
  sessions: SharedSession,
  only: string | undefined,
): Promise<Verdict> {
  const { profile } = world;
  const about = { harness: profile.harness, version: NEWEST, check: check.id };
  const at = () => new Date().toISOString();
  if (!check.needs(profile)) return { ...about, result: 'n/a', reason: 'not declared by the profile', at: at() };
  try {
    await prepare(check, world, only);
    await check.run(world, sessions);
    return { ...about, result: 'pass', at: at() };
  } catch (error) {
    return { ...about, result: 'fail', reason: (error as Error).message, at: at() };
  }
}
