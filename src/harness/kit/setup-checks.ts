/** Checks of what is installed: the profile, its entries, and that nothing is left of them. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { builtinProfiles } from '../builtin.ts';
import { clashes, profileProblems } from '../profile-rules.ts';
import { wantedGroups } from '../setup/entries.ts';
import { readText } from '../setup/files.ts';
import { parseJsonc, readNode } from '../setup/jsonc.ts';
import { type Check, must } from './check.ts';
import { KitFailure } from './driver.ts';
import type { KitWorld } from './world.ts';

const theirs =
  '{\n    // theirs\n    "hooks": {\n        "Stop": [ { "hooks": [ { "type": "command", "command": "true" } ] } ]\n    }\n}\n';

export const setupChecks: Check[] = [
  {
    id: 'profile',
    needs: () => true,
    run: async ({ profile }) => {
      const others = builtinProfiles.filter(({ harness }) => harness !== profile.harness);
      const problems = [...profileProblems(profile), ...clashes(profile, others)];
      must(problems.length === 0, problems.join('; '));
    },
  },
  {
    id: 'init',
    needs: ({ install }) => install.length > 0,
    run: async (world, version) => {
      const before = world.settings && put(world.settings, theirs);
      await world.person('init', '--yes', '--harness', world.profile.harness);
      const again = await world.person('init', '--yes', '--harness', world.profile.harness);
      const changes = again.harnesses.flatMap(({ changes }: { changes: unknown[] }) => changes);
      must(changes.length === 0, `a second run changed ${JSON.stringify(changes)}`);
      if (before) sameEvents(world, version, ['Stop']);
      if (before) must(readText(world.settings!)!.includes('// theirs'), 'a comment of somebody else is gone');
    },
  },
  {
    id: 'versions',
    needs: ({ delivery }) => delivery.hooks?.some(({ since }) => since) === true,
    run: async (world, version) => {
      const sinces = (world.profile.delivery.hooks ?? []).flatMap(({ since, fallback }) => [
        since,
        ...(fallback ?? []).map((one) => one.since),
      ]);
      for (const asked of ['0.0.1', ...new Set(sinces), version]) {
        if (asked === undefined) continue;
        world.sayVersion(asked);
        await world.person('init', '--yes', '--harness', world.profile.harness);
        sameEvents(world, asked, ['Stop']);
      }
    },
  },
];

/** Runs last: it takes away what the others need. */
export const uninstallCheck: Check = {
  id: 'uninstall',
  needs: ({ install }) => install.length > 0,
  run: async (world) => {
    await world.person('uninstall', '--yes');
    if (!world.settings) return;
    must(readText(world.settings) === theirs, 'the settings are not byte for byte as they were');
  },
};

function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) writeFileSync(path, text);
  return text;
}

/** Exactly the events that this version knows. @param others events of somebody else. */
function sameEvents(world: KitWorld, version: string, others: string[]): void {
  const { hooks } = readNode(parseJsonc(readText(world.settings!) ?? '{}')) as { hooks: Record<string, unknown[]> };
  const wanted = new Set([...wantedGroups(world.profile, '/service', version).map(({ event }) => event), ...others]);
  const found = Object.keys(hooks);
  const wrong = [
    ...found.filter((event) => !wanted.has(event)),
    ...[...wanted].filter((event) => !found.includes(event)),
  ];
  if (wrong.length > 0) throw new KitFailure(`version ${version}: ${wrong.join(', ')}`);
}
