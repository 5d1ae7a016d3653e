/** `init`, `uninstall` and `skill`: plans and applies changes to the settings of agent programs. */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { called, runtime, version } from '../../../cli/runtime.ts';
import { ownProgram } from '../../../cli/session/here.ts';
import { loadProfiles } from '../../../harness/load.ts';
import type { Profile } from '../../../harness/profile.ts';
import { UNTESTED, untested } from '../../../harness/proved.ts';
import { type Change, notesFor, type Setting, setUp } from '../../../harness/setup/init.ts';
import { changeInstalled, type Installed, readInstalled, type Scope } from '../../../harness/setup/installed.ts';
import { launcherPath, writeLauncher } from '../../../harness/setup/launcher.ts';
import { addPreCommit } from '../../../harness/setup/pre-commit.ts';
import { otherService, scan } from '../../../harness/setup/scan.ts';
import { installStates } from '../../../harness/setup/standing.ts';
import { type Removal, uninstall } from '../../../harness/setup/uninstall.ts';
import { Failure, usage } from '../../../local/failure.ts';
import { git } from '../../../local/repository.ts';

interface InitOptions {
  scope: Scope;
  /** Names of harnesses; without, all that are on this machine. */
  harness: string[];
  allow: boolean;
  claims?: boolean | undefined;
}

/** With `pre_commit` of the repository here, where it was asked for. */
type InitRecord = Awaited<ReturnType<Init['run']>> & { pre_commit?: Change[] };

export class Init {
  readonly #settings: Setting[];
  readonly #scope: Scope;

  private constructor(settings: Setting[], scope: Scope) {
    this.#settings = settings;
    this.#scope = scope;
  }

  /** Looks at this machine. @throws Failure `path_conflict`: then nothing is written at all. */
  static async of({ scope, harness, allow, claims }: InitOptions): Promise<Init> {
    const { env, program } = runtime();
    const profiles = await chosen(harness);
    if (allow) await requireOwnName(program);
    const settings = await Promise.all(
      profiles.map(async (profile) => ({
        profile,
        found: await scan(profile, env),
        scope,
        allow,
        claims,
        program: ownProgram(),
        cwd: process.cwd(),
        version: version(),
      })),
    );
    return new Init(settings, scope);
  }

  /** What would be changed, or with `apply` what was. */
  async run(apply: boolean, named: readonly string[]) {
    if (apply) writeLauncher(ownProgram());
    const harnesses = await withInstalled(apply, (installed) =>
      this.#settings.map((setting) => {
        const { profile, found } = setting;
        const wanted = found.program !== null || named.includes(profile.harness);
        const changes = wanted ? setUp(setting, installed, apply) : [];
        return { name: profile.harness, detected: found.program !== null, version: found.version, changes };
      }),
    );
    return { applied: apply, scope: this.#scope, harnesses };
  }

  /** Adds ours to the pre-commit hook of the repository here. */
  async preCommit(apply: boolean): Promise<Change[]> {
    const { folders } = runtime();
    const options = { path: await hookHere(), launcher: launcherPath(folders.state), version: version() };
    const change = await withInstalled(apply, (installed) => addPreCommit(options, installed, apply));
    return change ? [change] : [];
  }

  /** What the person has to know or do afterwards. */
  notes(): string[] {
    return this.#settings.filter(({ found }) => found.program !== null).flatMap(notesFor);
  }

  /** Programs of a version newer than any that was tested. */
  untested(): { code: string; message: string; hint: string }[] {
    return this.#settings.flatMap(({ profile, found }) => {
      const message = untested(profile, found.version);
      const hint = 'It is set up all the same; service doctor names what could not be delivered';
      return message === null ? [] : [{ code: UNTESTED, message, hint }];
    });
  }

  /** Files with something of ours which their programs skip as a whole. */
  skipped(): string[] {
    const installed = readInstalled(runtime().folders.state);
    const stands = this.#settings.flatMap((setting) => installStates(setting, installed));
    return [...new Set(stands.filter(({ state }) => state === 'skipped').map(({ path }) => path))];
  }

  /** Hooks that no program reads, or that would run twice. */
  warnings(): { code: string; message: string; hint: string }[] {
    const unread = this.skipped().map((path) => ({
      code: 'settings_commented',
      message: `${path} has comments or spare commas, so its program skips the whole file, our hooks too.`,
      hint: 'Take them out of it, then run service doctor',
    }));
    return [...unread, ...this.#twice()];
  }

  #twice(): { code: string; message: string; hint: string }[] {
    const both = readInstalled(runtime().folders.state).items.some(
      ({ harness, kind, scope }) => harness === 'codex' && kind === 'hooks' && scope !== this.#scope,
    );
    if (!both || !this.#settings.some(({ profile }) => profile.harness === 'codex')) return [];
    const message = 'Codex now runs the hooks of both scopes; the second of each pair gets an empty answer.';
    return [{ code: 'hooks_twice', message, hint: 'Keep one: service uninstall, then service init' }];
  }
}

/** With `apply` the records are changed, too. */
async function withInstalled<T>(apply: boolean, work: (installed: Installed) => T): Promise<T> {
  const { state } = runtime().folders;
  return apply ? changeInstalled(state, work) : work(readInstalled(state));
}

async function hookHere(): Promise<string> {
  const path = await git(process.cwd(), 'rev-parse', '--git-path', 'hooks/pre-commit');
  if (path === null) throw usage('--pre-commit is for a repository of git, and there is none here.');
  return resolve(path);
}

async function chosen(names: string[]): Promise<Profile[]> {
  const { all } = await loadProfiles(runtime().folders.config);
  const able = all.filter(({ install }) => install.length > 0);
  const unknown = names.find((name) => !able.some(({ harness }) => harness === name));
  if (unknown !== undefined)
    throw usage(
      `There is nothing to set up for ${unknown}.`,
      `Choose: ${able.map(({ harness }) => harness).join(', ')}`,
    );
  return names.length === 0 ? able : able.filter(({ harness }) => names.includes(harness));
}

/** A rule that allows `service` would allow another program of that name too. */
async function requireOwnName(program: string): Promise<void> {
  const { env, folders } = runtime();
  const other = await otherService(env, [program, launcherPath(folders.state)]);
  if (other === null) return;
  throw new Failure('path_conflict', `In your shell "service" is ${other}, not this program; nothing was written.`, {
    hint: 'Put the folder of this program first on PATH in your shell profile, or leave --allow-commands out',
  });
}

/** The lines of a record, for a person. @param command applies it; null: a question follows */
export function initText({ harnesses, applied, pre_commit: hook = [] }: InitRecord, command: string | null): string {
  const lines = harnesses.flatMap(({ name, detected, version: found, changes }) => [
    `${name}  ${detected ? (found ?? 'version unknown') : 'not on this machine'}${detected && changes.length === 0 ? '  nothing to change' : ''}`,
    ...changes.map(({ action, kind, path }) => `    ${actions[action]} ${path} (${kind})`),
  ]);
  const hooks = hook.map(({ action, kind, path }) => `${actions[action]} ${path} (${kind})`);
  const changing = hooks.length > 0 || harnesses.some(({ changes }) => changes.length > 0);
  const unapplied =
    changing && !applied && command !== null ? called(`Nothing was written. Apply it with: ${command}`) : '';
  const none = changing || harnesses.some(({ detected }) => detected) ? '' : called(nobodyHere);
  return [...lines, ...hooks, unapplied, none].filter(Boolean).join('\n');
}

const nobodyHere = [
  'To set one up that is not there yet: service init --harness NAME --yes',
  'Any other program takes part with: service inbox --wait 600 --as AGENT',
].join('\n');

const actions: Record<Change['action'] | Removal['action'], string> = {
  create: 'create',
  update: 'change',
  delete: 'delete',
  keep: 'keep, because it was edited:',
  gone: 'gone already:',
  unreadable: 'leave, because it cannot be read or changed:',
};

/** A file and what becomes of it, for a person. */
export const removalLine = ({ action, path, kind }: Pick<Removal, 'action' | 'path'> & { kind: string }): string =>
  `${actions[action]} ${path} (${kind})`;

/** @throws Failure `settings_unreadable` when a file of settings could not be read or changed, after the others were done. */
export function requireReadable({ harnesses, applied, pre_commit: hook = [] }: InitRecord): void {
  const changes = [...harnesses.flatMap((harness) => harness.changes), ...hook];
  const bad = changes.filter(({ action }) => action === 'unreadable').map(({ path }) => path);
  if (bad.length === 0) return;
  throw new Failure(
    'settings_unreadable',
    `${bad.join(', ')} cannot be read as its program reads it, or not be changed; it was left as it is.`,
    {
      hint: 'Repair it, then run the command again',
      details: { paths: bad, applied, harnesses },
    },
  );
}

/** Takes away what was set up; with `apply` false only says it. */
export async function removeSetup(apply: boolean): Promise<Removal[]> {
  const { folders } = runtime();
  const { all } = await loadProfiles(folders.config);
  const ruleOf = (harness: string) =>
    all.find((profile) => profile.harness === harness)?.install.find(({ rule }) => rule !== undefined)?.rule ?? null;
  return withInstalled(apply, (installed) => {
    const removals = uninstall(installed, ruleOf, apply);
    if (!apply) return removals;
    const left = removals.toReversed().map(({ action }) => action === 'keep' || action === 'unreadable');
    installed.items = installed.items.filter((_, index) => left[index]);
    // Hooks that could not be taken out still run it.
    if (installed.items.every(({ kind }) => kind !== 'hooks')) rmSync(launcherPath(folders.state), { force: true });
    return removals;
  });
}

/** The four folders, which hold everything of this program on this machine. */
export function dataFolders(): string[] {
  const { config, data, state, cache } = runtime().folders;
  return [config, data, state, cache];
}
