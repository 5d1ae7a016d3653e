/** Checks the agent programs that are installed or set up on this machine. */
import { here, inSession, ownProgram } from '../../../cli/session/here.ts';
import { installCommands } from '../../../harness/install-commands.ts';
import { loadProfiles, type Profiles } from '../../../harness/load.ts';
import type { Profile } from '../../../harness/profile.ts';
import { runProgram } from '../../../harness/programs.ts';
import { UNTESTED, untested } from '../../../harness/proved.ts';
import { missedHooks, shellWord } from '../../../harness/setup/entries.ts';
import { type Setting, setUp } from '../../../harness/setup/init.ts';
import { changeInstalled, type Installed, readInstalled } from '../../../harness/setup/installed.ts';
import { writeLauncher } from '../../../harness/setup/launcher.ts';
import { type Found, scan } from '../../../harness/setup/scan.ts';
import { basesOf, installStates } from '../../../harness/setup/standing.ts';
import { olderThan } from '../../../local/versions.ts';
import { type Around, type Check, type Finding, failing, fine, note, warning } from '../lib/check.ts';
import { setupFindings } from './harness-setup.ts';
import { nameConflict } from './name-conflict.ts';

export const harnesses: Check = {
  name: 'harnesses',

  async run(around) {
    const profiles = await loadProfiles(around.folders.config);
    const installed = readInstalled(around.folders.state);
    const bad = profiles.invalid.map(invalid);
    const conflict = installed.items.length > 0 ? await nameConflict(installed, around) : null;
    const looks = able(profiles).map((profile) => lookAt(profile, installed, around, conflict !== null));
    const findings = [...bad, ...(await Promise.all(looks)).flat(), ...(conflict ? [conflict] : [])];
    return findings.length > 0 ? findings : [fine('harnesses', 'no agent program that is known is on this machine')];
  },

  /** As `init` would, but only what it has set up before and nobody has edited. A session changes no settings. */
  async repair(around) {
    if (inSession() || here().sandbox) return [];
    const { state, config } = around.folders;
    const known = readInstalled(state);
    if (known.items.length === 0) return [];
    const profiles = able(await loadProfiles(config));
    const settings = await Promise.all(profiles.map((profile) => settingOf(profile, known, around)));
    const fixed = await changeInstalled(state, (installed) =>
      settings.flatMap((setting) => refresh(setting, installed)),
    );
    return writeLauncher(ownProgram()) ? [...fixed, 'refreshed the script that hooks run'] : fixed;
  },
};

/** Those for which `init` writes something. */
const able = ({ all }: Profiles): Profile[] => all.filter(({ install }) => install.length > 0);

const invalid = ({ file, problems }: Profiles['invalid'][number]): Finding => {
  const problem = `${file} is no profile, so it is left out: ${problems.slice(0, 3).join('; ')}.`;
  return warning('harnesses', 'profile_invalid', problem, `mv ${shellWord(file)} ${shellWord(`${file}.invalid`)}`);
};

async function settingOf(profile: Profile, installed: Installed, around: Around): Promise<Omit<Setting, 'scope'>> {
  const recorded = installed.programs[profile.checks.installed.run[0]!];
  // Half of the time that a check has: a program that hangs must not hide the others.
  const found = await scan(profile, around.env, recorded, around.limitMs / 2);
  return { profile, found, allow: false, program: ownProgram(), cwd: process.cwd(), version: around.version };
}

async function lookAt(profile: Profile, installed: Installed, around: Around, conflict: boolean): Promise<Finding[]> {
  const setting = await settingOf(profile, installed, around);
  const bases = basesOf(installed, setting);
  if (setting.found.program === null) return bases.length > 0 ? [notInstalled(profile)] : [];
  const version = await versionFindings(profile, setting.found, around);
  const found = [...version, ...setupFindings(setting, installed, { bases, conflict })];
  if (found.some(({ level }) => level !== 'note')) return found;
  return [...found, fine(profile.harness, `${profile.name} ${setting.found.version} is set up`)];
}

function refresh(setting: Omit<Setting, 'scope'>, installed: Installed): string[] {
  if (setting.found.program === null) return [];
  return basesOf(installed, setting).flatMap(({ scope, cwd }) => {
    const there = { ...setting, scope, cwd };
    const due = installStates(there, installed)
      .filter(({ state, noted }) => noted && (state === 'outdated' || state === 'missing'))
      .map(({ install }) => install);
    const changes = due.length > 0 ? setUp({ ...there, allow: true }, installed, true, (one) => due.includes(one)) : [];
    return changes.map(({ path }) => `refreshed ${path}`);
  });
}

/** Something is set up for a program that is nowhere. */
const notInstalled = ({ harness, name, command }: Profile): Finding =>
  warning(
    harness,
    `${harness}_not_installed`,
    `${name} is set up, but there is no ${command} on PATH, nor where it was.`,
    installCommands[harness]?.install ?? null,
  );

/** What is wrong with the version that is here; nothing where all of the program can be used. */
async function versionFindings(profile: Profile, { program, version }: Found, around: Around): Promise<Finding[]> {
  const { harness, name, checks } = profile;
  const update = installCommands[harness]?.update ?? null;
  if (version === null) {
    const problem = `${checks.installed.run.join(' ')} does not tell a version, so the oldest supported one is assumed.`;
    return [warning(harness, `${harness}_version_unknown`, problem, update)];
  }
  const least = checks.min_version;
  const old = least !== undefined && olderThan(version, least);
  const missed = missedHooks(profile, version);
  const lost = missed.map(({ event, without }) => `${event} (${without ?? 'its hook is left out.'})`).join(' ');
  const news = untested(profile, version);
  return [
    ...(news ? [note(harness, UNTESTED, news)] : []),
    ...(old ? [warning(harness, `${harness}_outdated`, `${name} ${version} is older than ${least}.`, update)] : []),
    ...(missed.length > 0
      ? [warning(harness, `${harness}_hooks_unsupported`, `${name} ${version} has no ${lost}`, update)]
      : []),
    ...(await queueFinding(profile, program!, around)),
  ];
}

/** The command line by which bundles are given to the program's own queue has to be one that it knows. */
async function queueFinding(
  { harness, name, delivery }: Profile,
  program: string,
  { env, limitMs }: Around,
): Promise<Finding[]> {
  const words = delivery.queue?.slice(1);
  if (!words) return [];
  const first = words.findIndex((word) => word.startsWith('-'));
  const verb = first < 0 ? words : words.slice(0, first);
  const { stdout, stderr } = await runProgram(program, [...verb, '--help'], { env, ms: limitMs / 2 });
  const help = stdout + stderr;
  if (words.filter((word) => word.startsWith('--')).every((flag) => help.includes(flag))) return [];
  const problem = `${name} has no "${verb.join(' ')}" that takes messages, so an idle session is not reached.`;
  return [failing(harness, 'queue_missing', problem, installCommands[harness]?.update ?? null)];
}
