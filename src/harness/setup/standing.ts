/** The state of everything that was set up for a harness: up to date, outdated, edited or missing. Changes nothing. */
import { existsSync } from 'node:fs';
import { ifReadable, readText } from './files.ts';
import {
  dueInstalls,
  hooksDigest,
  type Install,
  installPath,
  installsOf,
  isEdited,
  ownText,
  recordedItem,
  type Setting,
  wantedIn,
} from './init.ts';
import type { Installed, Item, Scope } from './installed.ts';
import { hasRule, isPlainJson, ownHooks, wantedHooks } from './settings.ts';

/**
 * `outdated`: unchanged since we wrote it, but this version writes it differently. `edited`: changed by others.
 * `skipped`: the program ignores the whole file.
 */
export type InstallState = 'fine' | 'missing' | 'outdated' | 'edited' | 'skipped' | 'unreadable';

export interface ItemState {
  install: Install;
  path: string;
  state: InstallState;
  /** Whether `init` has written it here. */
  noted: boolean;
}

/** Where a harness was set up: for its person, or in one of their projects. */
export interface Base {
  scope: Scope;
  /** Folder of the project; ignored in the global scope. */
  cwd: string;
}

/** The places where something was set up for this harness, without deleted projects. */
export function basesOf(installed: Installed, setting: Omit<Setting, 'scope'>): Base[] {
  const items = installed.items.filter(({ harness }) => harness === setting.profile.harness);
  const projects = items.flatMap((item) => projectOf(item, setting));
  return [
    ...(items.some(({ scope }) => scope === 'global') ? [{ scope: 'global' as const, cwd: setting.cwd }] : []),
    ...[...new Set(projects)].filter(existsSync).map((cwd) => ({ scope: 'project' as const, cwd })),
  ];
}

/** The folder of a project, which the item's path begins with. */
function projectOf({ scope, path, kind }: Item, { profile }: Omit<Setting, 'scope'>): string[] {
  if (scope !== 'project') return [];
  const ends = installsOf(profile, 'project').filter((install) => install.kind === kind);
  return ends.flatMap(({ project }) => (path.endsWith(`/${project}`) ? [path.slice(0, -`/${project}`.length)] : []));
}

/** The state of everything that is installed for a harness in one scope. */
export const installStates = (setting: Setting, installed: Installed): ItemState[] =>
  dueInstalls(setting).map((install) => {
    const path = installPath(setting, install);
    const known = recordedItem(installed, setting.profile.harness, install.kind, path);
    const state = ifReadable('unreadable', () => stateOf(setting, install, path, known));
    return { install, path, state, noted: known !== undefined };
  });

function stateOf(setting: Setting, install: Install, path: string, known: Item | undefined): InstallState {
  const text = readText(path);
  if (text === null) return 'missing';
  if (install.format !== 'json') return ofOwnFile(setting, install, text, known);
  const standing = ofPart(setting, install, text, known);
  return standing !== 'missing' && !isPlainJson(text) ? 'skipped' : standing;
}

function ofOwnFile(setting: Setting, install: Install, text: string, known: Item | undefined): InstallState {
  const wanted = ownText(setting, install, known);
  if (text === wanted) return 'fine';
  // Additional rules in the file do not matter.
  if (install.kind === 'allow-rule') return text.includes(wanted.trim()) ? 'fine' : 'edited';
  return isEdited(text, install, known) ? 'edited' : 'outdated';
}

function ofPart(setting: Setting, { kind, rule }: Install, text: string, known: Item | undefined): InstallState {
  if (kind === 'allow-rule') return hasRule(text, rule ?? '') ? 'fine' : 'missing';
  return ofHooks(setting, text, known);
}

function ofHooks(setting: Setting, text: string, known: Item | undefined): InstallState {
  const { harness } = setting.profile;
  const own = ownHooks(text, harness);
  if (own.length === 0) return 'missing';
  if (JSON.stringify(own) === JSON.stringify(wantedHooks(wantedIn(setting, known)))) return 'fine';
  const asLeft = known?.own_sha256 === undefined || known.own_sha256 === hooksDigest(text, harness);
  if (!asLeft) return 'edited';
  // Without a known version the needed hooks are unknown, so the existing ones count as fine.
  return setting.found.version === null ? 'fine' : 'outdated';
}
