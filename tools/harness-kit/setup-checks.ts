/** Checks of what is installed: the profile, its entries at both places, and that nothing is left of them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { builtinProfiles } from '../../src/harness/builtin.ts';
import type { Install, Profile } from '../../src/harness/profile.ts';
import { conflicts, profileProblems } from '../../src/harness/profile-rules.ts';
import { readText } from '../../src/harness/setup/files.ts';
import { installPath, setUp as setUpHarness } from '../../src/harness/setup/init.ts';
import type { Installed } from '../../src/harness/setup/installed.ts';
import { parseJsonc } from '../../src/harness/setup/jsonc.ts';
import { skillText } from '../../src/harness/skill.ts';
import { folders } from '../../src/local/folders.ts';
import { olderThan } from '../../src/local/versions.ts';
import { type Check, can, must, NEWEST } from './check.ts';
import type { SettingsEntry } from './entries.ts';
import { Seated } from './seated.ts';
import type { KitWorld } from './world.ts';

/** Settings that were there before, with a hook of somebody else and in somebody else's hand. */
const theirs =
  '{\n    // theirs\n    "hooks": {\n        "Stop": [ { "hooks": [ { "type": "command", "command": "true # theirs" } ] } ]\n    }\n}\n';
const theirHook = 'true # theirs';

type Groups = Record<string, { matcher?: string; hooks: SettingsEntry[] }[]>;

export const setupChecks: Check[] = [
  {
    id: 'profile',
    needs: () => true,
    run: async ({ profile }) => {
      const others = builtinProfiles.filter(({ harness }) => harness !== profile.harness);
      const problems = [...profileProblems(profile), ...conflicts(profile, others)];
      must(problems.length === 0, problems.join('; '));
    },
  },
  {
    id: 'init',
    needs: ({ install }) => install.length > 0,
    run: async (world) => {
      for (const scope of ['global', 'project'] as const) await setUp(world, scope);
    },
  },
  {
    id: 'versions',
    needs: ({ delivery }) => delivery.hooks?.some(({ since }) => since) === true,
    run: async (world) => {
      const hooks = world.profile.delivery.hooks ?? [];
      const sinces = hooks.flatMap(({ since, fallback }) => [since, ...(fallback ?? []).map((one) => one.since)]);
      const before = beside(world);
      for (const asked of ['0.0.1', ...new Set(sinces), NEWEST])
        if (asked !== undefined) mustKnow(world.profile, asked, groupsIn(before(asked)));
      // As the program itself says it, too.
      for (const asked of ['0.0.1', NEWEST]) {
        world.sayVersion(asked);
        await init(world, 'global');
        mustKnow(world.profile, asked, groupsIn(world.settings!));
      }
      const [fallback] = hooks.filter((hook) => hook.fallback && hook.op === 'tool');
      if (fallback) await withFallback(world, fallback);
    },
  },
];

/** Runs last: it takes away what the others need. */
export const uninstallCheck: Check = {
  id: 'uninstall',
  needs: ({ install }) => install.length > 0,
  run: async (world) => {
    const project = join(world.dir, 'project');
    const edited = world.profile.install.find(({ kind, global }) => kind === 'skill' && global);
    const path = edited ? world.placeOf(edited, 'global') : null;
    if (path) writeFileSync(path, `${readFileSync(path, 'utf8')}\nMine.\n`);
    const { files } = (await world.command(['uninstall', '--yes'])) as { files: { path: string; action: string }[] };
    if (path) {
      const kept = files.find((file) => file.path === path);
      must(kept?.action === 'keep' && existsSync(path), 'a file that its person edited was not kept and named');
    }
    for (const install of world.profile.install) {
      for (const scope of ['global', 'project'] as const) {
        if (install[scope] === undefined) continue;
        const place = world.placeOf(install, scope, project);
        if (install.format === 'json') must(readText(place) === theirs, `${place} is not byte for byte as it was`);
        else if (place !== path) must(!existsSync(place), `${place} is still there`);
      }
    }
  },
};

async function init(
  world: KitWorld,
  scope: 'global' | 'project',
  cwd?: string,
): Promise<{ changes: { path: string }[] }> {
  const args = ['init', '--yes', '--scope', scope, '--harness', world.profile.harness, '--allow-commands'];
  const { harnesses } = await world.command(args, cwd ? { cwd } : {});
  return harnesses[0] ?? { changes: [] };
}

/** Twice: the first time all of it is there afterwards, the second time nothing changes. */
export async function setUp(world: KitWorld, scope: 'global' | 'project'): Promise<void> {
  const { profile } = world;
  const project = join(world.dir, 'project');
  mkdirSync(project, { recursive: true });
  const installs = profile.install.filter((install) => install[scope] !== undefined && install.kind !== 'consent');
  const before = new Map<string, string>();
  for (const install of installs) {
    if (install.format !== 'json') continue;
    const path = world.placeOf(install, scope, project);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, theirs);
    before.set(path, theirs);
  }
  await init(world, scope, project);
  const { changes } = await init(world, scope, project);
  must(changes.length === 0, `a second run changed ${JSON.stringify(changes)}`);
  for (const install of installs) golden(world, install, world.placeOf(install, scope, project));
}

/** What has to stand in an item, told from the profile alone. */
function golden(world: KitWorld, { kind, format, rule, text, source }: Install, path: string): void {
  const { profile } = world;
  const found = readText(path) ?? '';
  must(found !== '', `${path} is not there`);
  const launcher = join(world.state, 'bin', 'service');
  if (kind === 'skill') must(found === skillText(profile), `${path} is not the skill`);
  if (kind === 'file' && source) must(found.includes(JSON.stringify(launcher)), `${path} does not name our program`);
  if (text !== undefined && format !== 'json') must(found === text, `${path} holds something else`);
  if (format !== 'json') return;
  must(found.includes('    // theirs'), `a comment of somebody else is gone from ${path}`);
  if (kind === 'allow-rule') {
    const { permissions } = getNodeValue(parseJsonc(found)) as { permissions?: { allow?: string[] } };
    must(permissions?.allow?.includes(rule ?? '') === true, `${path} does not allow our commands`);
  }
  if (kind !== 'hooks') return;
  const groups = groupsIn(path);
  const [first] = groups['Stop'] ?? [];
  must(first?.hooks[0]?.command === theirHook, `a hook of somebody else is not as it was in ${path}`);
  for (const hook of profile.delivery.hooks ?? []) {
    const options = Object.entries(hook.options ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const command = `${launcher} hook ${profile.harness} ${hook.run}`;
    const entry = { type: 'command', command, timeout: hook.timeout, ...Object.fromEntries(options) };
    const group = { ...(hook.matcher === undefined ? {} : { matcher: hook.matcher }), hooks: [entry] };
    const there = (groups[hook.event] ?? []).filter((one) => JSON.stringify(one) === JSON.stringify(group));
    must(there.length === 1, `${path} has ${hook.event} ${there.length} times: ${JSON.stringify(groups[hook.event])}`);
  }
}

/** Settings of another home, set up for one version after the other. @returns their path */
function beside(world: KitWorld): (version: string) => string {
  const { profile } = world;
  const home = join(world.dir, 'beside');
  const env = { HOME: home, SERVICE_HOME: join(home, 's') };
  const program = { runtime: process.execPath, entry: '', folders: folders(env), env };
  const path = installPath({ profile, scope: 'global', program, cwd: home }, profile.install.find(isHooks)!);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, theirs);
  const installed: Installed = { v: 1, programs: {}, items: [] };
  return (version) => {
    const found = { program: null, version };
    setUpHarness(
      { profile, found, scope: 'global', allow: false, program, cwd: home, version: NEWEST },
      installed,
      true,
    );
    return path;
  };
}

const isHooks = ({ kind }: Install): boolean => kind === 'hooks';

/** Exactly the events that this version knows, and those of others. */
function mustKnow(profile: Profile, version: string, groups: Groups): void {
  const found = Object.keys(groups).toSorted();
  const wanted = [...new Set(['Stop', ...eventsFor(profile, version)])].toSorted();
  must(`${found}` === `${wanted}`, `version ${version} has ${found}, and knows ${wanted}`);
}

/** Events that a version knows: the usual one, else the ones in its place. */
const eventsFor = ({ delivery }: Profile, version: string): string[] =>
  (delivery.hooks ?? []).flatMap(({ event, since, fallback = [] }) => {
    const knows = (first: string | undefined) => first === undefined || !olderThan(version, first);
    return knows(since) ? [event] : fallback.filter((one) => knows(one.since)).map((one) => one.event);
  });

const groupsIn = (path: string): Groups =>
  (getNodeValue(parseJsonc(readText(path) ?? '{}')) as { hooks?: Groups }).hooks ?? {};

/** In a version that lacks an event, what is in its place brings the same: after a call that failed, too. */
async function withFallback(
  world: KitWorld,
  { fallback = [], since }: NonNullable<Profile['delivery']['hooks']>[number],
) {
  const { profile } = world;
  const newest = fallback.map((one) => one.since).toSorted((a, b) => (olderThan(a, b) ? 1 : -1))[0]!;
  const wait = profile.delivery.hooks?.find(({ op }) => op === 'wait')?.since;
  const version = wait && olderThan(newest, wait) ? wait : newest;
  if (since === undefined || !olderThan(version, since) || !can('tool-boundary')(profile)) return;
  const driver = world.harness();
  await driver.step({ do: 'version', v: version });
  await init(world, 'global');
  const { people } = await world.served();
  const seat = await Seated.on(world);
  for (const fail of [false, true]) {
    const body = `kit-fallback-${fail ? 'failed' : 'done'}`;
    await seat.during(async () => {
      await people.say(seat.board.name, body, { to: [`@${seat.name}`] });
      await world.until(`the word of its person in version ${version}`, async () => {
        await seat.driver.step({ do: 'tool', name: 'Read', fail });
        return seat.driver.times(body) > 0;
      });
    });
  }
  await seat.driver.step({ do: 'quit' });
  await driver.step({ do: 'version', v: NEWEST });
  await init(world, 'global');
}
