/** Checks of the profile itself, of what is installed for it in both scopes, and that all of it can be removed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { builtinProfiles } from '../../src/harness/builtin.ts';
import type { Hook, Install, Profile } from '../../src/harness/profile.ts';
import { conflicts, profileProblems } from '../../src/harness/profile-rules.ts';
import { readText } from '../../src/harness/setup/files.ts';
import { installPath, setUp as setUpHarness } from '../../src/harness/setup/init.ts';
import type { Installed } from '../../src/harness/setup/installed.ts';
import { parseJsonc } from '../../src/harness/setup/jsonc.ts';
import { skillText } from '../../src/harness/skill.ts';
import { folders } from '../../src/local/folders.ts';
import { olderThan } from '../../src/local/versions.ts';
import { type Check, has, must, NEWEST } from './check.ts';
import type { SettingsEntry } from './entries.ts';
import { startSession } from './seated.ts';
import type { KitWorld } from './world.ts';

/** A settings file with a comment, another layout and a hook that are not ours. */
const foreignSettings =
  '{\n    // theirs\n    "hooks": {\n        "Stop": [ { "hooks": [ { "type": "command", "command": "true # theirs" } ] } ]\n    }\n}\n';
const foreignHook = 'true # theirs';

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
      const install = otherHome(world);
      for (const version of ['0.0.1', ...new Set(sinces), NEWEST])
        if (version !== undefined) checkEvents(world.profile, version, groupsIn(install(version)));
      const fallback = hooks.find((hook) => hook.fallback && hook.op === 'tool');
      if (fallback) await checkFallback(world, fallback);
      // Also with the version that the program prints.
      for (const version of ['0.0.1', NEWEST]) {
        world.setVersion(version);
        await init(world, 'global');
        checkEvents(world.profile, version, groupsIn(world.settings!));
      }
    },
  },
];

/** Runs last, because it removes what the others need. */
export const uninstallCheck: Check = {
  id: 'uninstall',
  needs: ({ install }) => install.length > 0,
  run: async (world) => {
    const project = join(world.dir, 'project');
    const edited = world.profile.install.find(({ kind, global }) => kind === 'skill' && global);
    const path = edited ? world.pathOf(edited, 'global') : null;
    if (path) writeFileSync(path, `${readFileSync(path, 'utf8')}\nMine.\n`);
    const { files } = (await world.command(['uninstall', '--yes'])) as { files: { path: string; action: string }[] };
    if (path) {
      const kept = files.find((file) => file.path === path);
      must(kept?.action === 'keep' && existsSync(path), 'a file that was edited was not kept, or not reported');
    }
    for (const install of world.profile.install) {
      for (const scope of ['global', 'project'] as const) {
        if (install[scope] === undefined) continue;
        const installed = world.pathOf(install, scope, project);
        if (install.format === 'json') must(readText(installed) === foreignSettings, `${installed} was not restored`);
        else if (installed !== path) must(!existsSync(installed), `${installed} still exists`);
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

/** Runs `service init` twice: the first run installs everything, the second changes nothing. */
export async function setUp(world: KitWorld, scope: 'global' | 'project'): Promise<void> {
  const { profile } = world;
  const project = join(world.dir, 'project');
  mkdirSync(project, { recursive: true });
  const installs = profile.install.filter((install) => install[scope] !== undefined && install.kind !== 'consent');
  for (const install of installs) {
    if (install.format !== 'json') continue;
    const path = world.pathOf(install, scope, project);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, foreignSettings);
  }
  await init(world, scope, project);
  const { changes } = await init(world, scope, project);
  must(changes.length === 0, `a second run changed ${JSON.stringify(changes)}`);
  for (const install of installs) checkInstalled(world, install, world.pathOf(install, scope, project));
}

/** Checks the content of an installed file against the profile. */
function checkInstalled(world: KitWorld, { kind, format, rule, text, source }: Install, path: string): void {
  const { profile } = world;
  const found = readText(path) ?? '';
  must(found !== '', `${path} does not exist`);
  const launcher = join(world.state, 'bin', 'service');
  if (kind === 'skill') must(found === skillText(profile), `${path} is not the skill`);
  if (kind === 'file' && source)
    must(found.includes(JSON.stringify(launcher)), `${path} does not contain the path of our program`);
  if (text !== undefined && format !== 'json') must(found === text, `${path} has another content`);
  if (format !== 'json') return;
  must(found.includes('    // theirs'), `a comment was removed from ${path}`);
  if (kind === 'allow-rule') {
    const { permissions } = getNodeValue(parseJsonc(found)) as { permissions?: { allow?: string[] } };
    must(permissions?.allow?.includes(rule ?? '') === true, `${path} does not allow our commands`);
  }
  if (kind !== 'hooks') return;
  const groups = groupsIn(path);
  const [first] = groups['Stop'] ?? [];
  must(first?.hooks[0]?.command === foreignHook, `a hook that is not ours was changed in ${path}`);
  for (const hook of profile.delivery.hooks ?? []) {
    const options = Object.entries(hook.options ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const command = `${launcher} hook ${profile.harness} ${hook.run}`;
    const entry = { type: 'command', command, timeout: hook.timeout, ...Object.fromEntries(options) };
    const group = { ...(hook.matcher === undefined ? {} : { matcher: hook.matcher }), hooks: [entry] };
    const there = (groups[hook.event] ?? []).filter((one) => JSON.stringify(one) === JSON.stringify(group));
    must(there.length === 1, `${path} has ${hook.event} ${there.length} times: ${JSON.stringify(groups[hook.event])}`);
  }
}

/** A function that sets up a version of the program in another home. @returns the path of its settings */
function otherHome(world: KitWorld): (version: string) => string {
  const { profile } = world;
  const home = join(world.dir, 'other-home');
  const env = { HOME: home, SERVICE_HOME: join(home, 's') };
  const program = { runtime: process.execPath, entry: '', folders: folders(env), env };
  const path = installPath({ profile, scope: 'global', program, cwd: home }, profile.install.find(isHooks)!);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, foreignSettings);
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

/** Checks that the settings have hooks for exactly the events that this version knows, besides the foreign hook. */
function checkEvents(profile: Profile, version: string, groups: Groups): void {
  const found = Object.keys(groups).toSorted();
  const wanted = [...new Set(['Stop', ...eventsFor(profile, version)])].toSorted();
  must(`${found}` === `${wanted}`, `for version ${version} there are hooks for ${found} instead of ${wanted}`);
}

/** The events that a version knows; fallbacks for those that it does not know. */
const eventsFor = ({ delivery }: Profile, version: string): string[] =>
  (delivery.hooks ?? []).flatMap(({ event, since, fallback = [] }) => {
    const knows = (first: string | undefined) => first === undefined || !olderThan(version, first);
    return knows(since) ? [event] : fallback.filter((one) => knows(one.since)).map((one) => one.event);
  });

const groupsIn = (path: string): Groups =>
  (getNodeValue(parseJsonc(readText(path) ?? '{}')) as { hooks?: Groups }).hooks ?? {};

/** Checks that a version without an event delivers by its fallbacks: also after a failed tool call. */
async function checkFallback(world: KitWorld, { fallback = [], since }: Hook): Promise<void> {
  const { profile } = world;
  const newest = fallback.map((one) => one.since).toSorted((a, b) => (olderThan(a, b) ? 1 : -1))[0]!;
  const wait = profile.delivery.hooks?.find(({ op }) => op === 'wait')?.since;
  const version = wait && olderThan(newest, wait) ? wait : newest;
  if (since === undefined || !olderThan(version, since) || !has('tool-boundary')(profile)) return;
  world.setVersion(version);
  await init(world, 'global');
  const seat = await startSession(world);
  for (const fail of [false, true]) {
    const body = `kit-fallback-${fail ? 'failed' : 'done'}`;
    await seat.duringTurn(async () => {
      await seat.personSays(body);
      await world.until(`the message of its person in version ${version}`, async () => {
        await seat.driver.step({ do: 'tool', name: 'Read', fail });
        return seat.driver.count(body) > 0;
      });
    });
  }
  await seat.driver.step({ do: 'quit' });
}
