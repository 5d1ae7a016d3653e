/** Checks what `init` wrote for an agent program, with the command that repairs each part. */
import { existsSync } from 'node:fs';
import type { Profile } from '../../../harness/profile.ts';
import { shellWord } from '../../../harness/setup/entries.ts';
import { type Install, type Setting, settingsFolders } from '../../../harness/setup/init.ts';
import type { Installed } from '../../../harness/setup/installed.ts';
import { launcherPath } from '../../../harness/setup/launcher.ts';
import { type Base, type InstallState, type ItemState, installStates } from '../../../harness/setup/standing.ts';
import { runsUnasked } from '../../../harness/setup/unasked.ts';
import { type Finding, failing, warning } from '../lib/check.ts';

interface RequestBody {
  /** Where it was set up; nowhere is no problem of the skill or the rule. */
  bases: Base[];
  /** In the person's shell `service` is another program, which a rule must not allow. */
  conflict: boolean;
}

/** @property unasked its program runs `service` without asking, by settings that are not ours */
type Place = Base & { profile: Profile; stands: ItemState[]; unasked: boolean };

/** What is not as it has to be. @param setting of the harness, with what was found of it */
export function setupFindings(
  setting: Omit<Setting, 'scope'>,
  installed: Installed,
  { bases, conflict }: RequestBody,
): Finding[] {
  const { profile } = setting;
  const meant = bases.length > 0 ? bases : [{ scope: 'global' as const, cwd: setting.cwd }];
  const places = meant.map(
    (base): Place => ({
      ...base,
      profile,
      stands: installStates({ ...setting, ...base }, installed),
      unasked: runsUnasked(profile, settingsFolders({ ...setting, ...base })),
    }),
  );
  if (bases.length === 0 && places.every(untouched)) return places.map(neverSetUp);
  const script = launcherPath(setting.program.folders.state);
  return [
    ...(existsSync(script) ? [] : [scriptGone(places[0]!, script)]),
    ...places.flatMap(itemFindings),
    ...(conflict ? [] : ruleFindings(places)),
  ];
}

/** Nothing of ours is there by which messages would arrive. */
const untouched = ({ stands }: Place): boolean =>
  stands.every(({ install: { kind }, state }) => !carries(kind) || state === 'missing');

const carries = (kind: Install['kind']): boolean => kind === 'hooks' || kind === 'file';

const missingCode = ({ harness }: Profile, kind: Install['kind']): string =>
  kind === 'file' ? 'extension_missing' : `${harness}_hooks_missing`;

function neverSetUp(place: Place): Finding {
  const { profile, stands } = place;
  const kind = stands.find(({ install }) => carries(install.kind))?.install.kind ?? 'hooks';
  const problem = `${profile.name} is here and not set up: messages do not arrive in its sessions by themselves.`;
  return warning(profile.harness, missingCode(profile, kind), problem, initLine(place));
}

function scriptGone(place: Place, path: string): Finding {
  const { name, harness } = place.profile;
  return failing(harness, 'hooks_outdated', `${path}, which ${name} is to run, is gone.`, initLine(place));
}

const codes: Partial<Record<Install['kind'], Partial<Record<InstallState, string>>>> = {
  hooks: { outdated: 'hooks_outdated', edited: 'hooks_edited' },
  file: { outdated: 'extension_outdated', edited: 'extension_edited' },
  // A skill that is not there is no older text of it, but the same thing is to be done.
  skill: { missing: 'skill_outdated', outdated: 'skill_outdated', edited: 'skill_edited' },
};

/** Of a file as a whole. */
const fileCodes = { skipped: 'settings_commented', unreadable: 'settings_unreadable' } as const;

const words: Record<InstallState, string> = {
  fine: '',
  missing: 'is not there',
  outdated: 'is not what this build and its program need',
  edited: 'was edited',
  skipped: 'has comments or spare commas, so its program skips the whole file: take them out, or begin it anew',
  unreadable: 'cannot be read as its program reads it',
};

function itemFindings(place: Place): Finding[] {
  const { profile, stands } = place;
  const whole = (['skipped', 'unreadable'] as const).flatMap((standing) =>
    [...new Set(stands.filter((one) => one.state === standing).map(({ path }) => path))].map((path) =>
      failing(profile.harness, fileCodes[standing], `${path} ${words[standing]}.`, anewLine(place, path)),
    ),
  );
  return [
    ...whole,
    ...stands.flatMap(({ install: { kind }, path, state: standing, noted }) => {
      const problem = `${path} ${kind === 'hooks' ? hookWords[standing] : words[standing]}.`;
      // What was set up and is gone is broken; what never was is not.
      if (carries(kind) && standing === 'missing')
        return [(noted ? failing : warning)(profile.harness, missingCode(profile, kind), problem, initLine(place))];
      const code = codes[kind]?.[standing];
      if (!code) return [];
      // Hooks are put right in place; a file of ours that was edited is kept until its person moves it.
      const fix = standing === 'edited' && kind !== 'hooks' ? anewLine(place, path) : initLine(place);
      return [warning(profile.harness, code, problem, fix)];
    }),
  ];
}

const hookWords: Record<InstallState, string> = {
  ...words,
  missing: 'has no hooks of ours',
  outdated: 'does not have the hooks that this build and its program need',
  edited: 'has hooks of ours that were edited',
};

/** One rule, wherever it stands, is enough. */
function ruleFindings(places: Place[]): Finding[] {
  const rules = places.flatMap((place) =>
    place.stands.filter(({ install }) => install.kind === 'allow-rule').map((rule) => ({ place, rule })),
  );
  const [first] = rules;
  const settled = ({ place, rule }: (typeof rules)[number]): boolean =>
    place.unasked || ['fine', 'skipped', 'unreadable'].includes(rule.state);
  if (!first || rules.some(settled)) return [];
  const { place, rule } = first;
  const { profile } = place;
  const allow = ' --allow-commands';
  const fix = rule.state === 'edited' ? anewLine(place, rule.path, allow) : initLine(place, allow);
  const problem = `${profile.name} asks its person, or refuses, whenever an agent runs service.`;
  return [warning(profile.harness, `${profile.harness}_command_not_allowed`, problem, fix)];
}

/** Sets up again what is not as it has to be. */
const initLine = ({ scope, cwd, profile }: Place, more = ''): string =>
  scope === 'global'
    ? `service init --yes --harness ${profile.harness}${more}`
    : `cd ${shellWord(cwd)} && service init --yes --scope project --harness ${profile.harness}${more}`;

/** The same with a file that is put aside first, so that nothing of it is lost. */
const anewLine = (place: Place, path: string, more = ''): string =>
  `mv ${shellWord(path)} ${shellWord(`${path}.old`)} && ${initLine(place, more)}`;
