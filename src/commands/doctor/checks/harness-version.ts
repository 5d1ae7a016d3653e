/** Checks that an agent program is installed, and which features its version lacks. */
import { installCommands } from '../../../harness/install-commands.ts';
import type { Profile } from '../../../harness/profile.ts';
import { runProgram } from '../../../harness/programs.ts';
import { UNTESTED, untested } from '../../../harness/proved.ts';
import { missedHooks } from '../../../harness/setup/entries.ts';
import type { Found } from '../../../harness/setup/scan.ts';
import { olderThan } from '../../../local/versions.ts';
import { type Around, type Finding, failing, note, warning } from '../lib/check.ts';

/** Something is set up for a program that is nowhere. */
export const notInstalled = ({ harness, name, command }: Profile): Finding =>
  warning(
    harness,
    `${harness}_not_installed`,
    `${name} is set up, but there is no ${command} on PATH, nor where it was.`,
    installCommands[harness]?.install ?? null,
  );

/** What is wrong with the version that is here; nothing where all of the program can be used. */
export async function versionFindings(
  profile: Profile,
  { program, version }: Found,
  around: Around,
): Promise<Finding[]> {
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
