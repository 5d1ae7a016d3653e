/** Sets up harnesses: computes the changes first, so that they can be shown, then writes them. */
import { dirname, join } from 'node:path';
import { homeOf } from '../../local/folders.ts';
import { olderThan } from '../../local/versions.ts';
import { modText } from '../claude-code-mod.ts';
import type { Profile } from '../profile.ts';
import { configFolder } from '../programs.ts';
import { skillText } from '../skill.ts';
import { missedHooks, type WantedHook, wantedGroups } from './entries.ts';
import { extensionText } from './extension.ts';
import { changeFile, ifReadable, readText } from './files.ts';
import { digest, type Installed, type Item, type Scope } from './installed.ts';
import type { Program } from './launcher.ts';
import { launcherPath } from './launcher.ts';
import type { Found } from './scan.ts';
import { ownHooks, withHooks, withRule } from './settings.ts';

export type Change = {
  path: string;
  kind: Item['kind'];
  /** `keep`: its person has edited it, so it stays as it is. */
  action: 'create' | 'update' | 'keep' | 'unreadable';
  edited?: true;
};

export interface Setting {
  profile: Profile;
  found: Found;
  scope: Scope;
  allow: boolean;
  /** Whether sessions are told who else is on the files they change; left out: as it was set up. */
  claims?: boolean | undefined;
  program: Program;
  /** Folder of the project. */
  cwd: string;
  version: string;
}

/** A part of a profile that is written to a file. */
export type Install = Profile['install'][number] & { kind: Exclude<Item['kind'], 'pre-commit'> };

/** The files of a harness in a scope, including the allow rule. */
export const installsOf = (profile: Profile, scope: Scope): Install[] =>
  profile.install.filter((install): install is Install => install.kind !== 'consent' && install[scope] !== undefined);

/** Those of them that the installed version supports. */
export const dueInstalls = ({ profile, scope, found: { version } }: Setting): Install[] =>
  installsOf(profile, scope).filter(
    ({ since }) => since === undefined || (version !== null && !olderThan(version, since)),
  );

/**
 * Computes the changes for one harness and, with `apply`, makes them and records them in `installed`.
 * @param which of what the profile installs; without, all of it
 */
export function setUp(
  setting: Setting,
  installed: Installed,
  apply: boolean,
  which: (install: Install) => boolean = () => true,
): Change[] {
  const { profile, found, allow } = setting;
  const changes = dueInstalls(setting)
    .filter((install) => (allow || install.kind !== 'allow-rule') && which(install))
    .map((install) => one(setting, install, installed, apply));
  if (apply && found.program) installed.programs[profile.checks.installed.run[0]!] = found.program;
  return changes.filter((change): change is Change => change !== null);
}

/** Notes for the person afterwards. */
export function notesFor({ profile, found }: Setting): string[] {
  const { version } = found;
  const consent = profile.install.flatMap(({ kind, text }) => (kind === 'consent' && text ? [text] : []));
  const missed = missedHooks(profile, version).map(({ event, without }) =>
    `${profile.name} ${version ?? 'of unknown version'} has no ${event}. ${without ?? ''}`.trim(),
  );
  return [...missed, ...consent];
}

/** The path of an item on this machine. */
export function installPath(
  { profile, scope, program, cwd }: Pick<Setting, 'profile' | 'scope' | 'program' | 'cwd'>,
  install: { global?: string; project?: string },
): string {
  if (scope === 'project') return join(cwd, install.project ?? '');
  return (install.global ?? '')
    .replace('{config_dir}', () => configFolder(profile, program.env))
    .replace(/^~(?=\/|$)/, () => homeOf(program.env));
}

/** The folders of a harness's settings by precedence: the project's, in project scope, then the person's. */
export function settingsFolders({ profile, program, scope, cwd }: Setting): string[] {
  const project = profile.install.find(({ kind, project: path }) => kind === 'hooks' && path)?.project;
  const ofProject = scope === 'project' && project ? [join(cwd, dirname(project))] : [];
  return [...ofProject, configFolder(profile, program.env)];
}

function one(setting: Setting, install: Install, installed: Installed, apply: boolean): Change | null {
  const path = installPath(setting, install);
  const { kind } = install;
  const known = recordedItem(installed, setting.profile.harness, kind, path);
  return ifReadable<Change | null>({ path, kind, action: 'unreadable' }, () => {
    const text = readText(path);
    const owned = install.format !== 'json';
    if (owned && text !== null && isEdited(text, install, known) && text !== ownText(setting, install, known))
      return { path, kind, action: 'keep', edited: true };
    const next = newContent(setting, install, text, known);
    // A rule that its person has put there themselves is not ours to take out.
    const theirs = kind === 'allow-rule' && !owned && next.inserted.length === 0;
    if (next.text === text && (known || theirs)) return null;
    if (apply) write(setting, install, { path, known, installed });
    return next.text === text ? null : { path, kind, action: text === null ? 'create' : 'update' };
  });
}

/** The recorded item at a path. */
export const recordedItem = (
  { items }: Installed,
  harness: string,
  kind: Item['kind'],
  path: string,
): Item | undefined => items.find((item) => item.path === path && item.kind === kind && item.harness === harness);

/** Whether a file of ours was edited: it is neither what we wrote nor what an earlier version wrote. */
export const isEdited = (text: string, { accepts }: Install, known: Item | undefined): boolean =>
  digest(text) !== known?.sha256 && !accepts?.includes(digest(text));

interface Content {
  text: string;
  inserted: string[];
  created: string[];
}

function newContent(setting: Setting, install: Install, text: string | null, known: Item | undefined): Content {
  if (install.format !== 'json') return { text: ownText(setting, install, known), inserted: [], created: [] };
  const before = { inserted: known?.inserted ?? [], created: known?.created_containers ?? [] };
  const current = text ?? '{}\n';
  if (install.kind === 'allow-rule') return withRule(current, install.rule ?? '', before);
  return withHooks(current, setting.profile.harness, wantedIn(setting, known), before);
}

/** Our hooks for the installed version. */
export const wantedIn = (setting: Setting, known: Item | undefined): WantedHook[] =>
  wantedGroups(
    setting.profile,
    launcherPath(setting.program.folders.state),
    setting.found.version,
    claimsIn(setting, known),
  );

const claimsIn = ({ claims }: Setting, known: Item | undefined): boolean => claims ?? known?.claims ?? false;

/** The content of a file that belongs to us alone. */
export function ownText(setting: Setting, { kind, source, text }: Install, known: Item | undefined): string {
  const { profile, program, version } = setting;
  if (kind === 'skill') return skillText(profile);
  if (source === 'claude-code-mod') return modText(launcherPath(program.folders.state));
  if (source === 'omp-extension')
    return extensionText(launcherPath(program.folders.state), version, claimsIn(setting, known));
  return text ?? '';
}

/** A digest of our hooks in a file, independent of its layout and other content. */
export const hooksDigest = (text: string, harness: string): string => digest(JSON.stringify(ownHooks(text, harness)));

function write(
  setting: Setting,
  install: Install,
  { path, known, installed }: { path: string; known: Item | undefined; installed: Installed },
): void {
  const written: { result: Content | null; was: boolean } = { result: null, was: false };
  const folders = changeFile(path, (text) => {
    written.was = text !== null;
    written.result = newContent(setting, install, text, known);
    return written.result.text;
  });
  const { text, inserted, created } = written.result!;
  const item: Item = {
    harness: setting.profile.harness,
    path,
    kind: install.kind,
    scope: setting.scope,
    sha256: digest(text),
    version: setting.version,
    created_file: known?.created_file ?? !written.was,
    created_containers: created,
    created_folders: [...(known?.created_folders ?? []), ...folders],
    inserted,
    ...(claimsIn(setting, known) ? { claims: true as const } : {}),
    ...(install.kind === 'hooks' ? { own_sha256: hooksDigest(text, setting.profile.harness) } : {}),
  };
  installed.items = [...installed.items.filter((other) => other !== known), item];
}
