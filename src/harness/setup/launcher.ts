/** The script that hooks run. Its path never changes, even if the runtime or the package moves. */
import { join } from 'node:path';
import { shellArgument } from '../../contract/text.ts';
import type { Env, Folders } from '../../local/folders.ts';
import { writePrivate } from '../../local/private-file.ts';
import { readText } from './files.ts';

export interface Program {
  /** The runtime that runs the entry file. */
  runtime: string;
  /** `bin/run.js` of the package. */
  entry: string;
  folders: Folders;
  env: Env;
}

export const launcherPath = (state: string): string => join(state, 'bin', 'service');

const passedVariables = [
  'SERVICE_HOME',
  'SERVICE_CONFIG_DIR',
  'SERVICE_DATA_DIR',
  'SERVICE_STATE_DIR',
  'SERVICE_CACHE_DIR',
];

/** The script. It runs hooks from their own small bundle, and a hook never fails if the program was removed. */
function launcherText({ runtime, entry }: Program, exports: readonly string[]): string {
  const hook = join(entry, '..', '..', 'dist', 'hook.cjs');
  return [
    '#!/bin/sh',
    '# Runs this program for the harnesses on this machine. Written by service init, kept up by every command.',
    ...exports,
    `runtime=${shellArgument(runtime, null)}`,
    `entry=${shellArgument(entry, null)}`,
    `if [ "$1" = hook ] && [ -f ${shellArgument(hook, null)} ]; then entry=${shellArgument(hook, null)}; fi`,
    '[ -x "$runtime" ] || runtime=$(command -v node)',
    'if [ -n "$runtime" ] && [ -f "$entry" ]; then exec "$runtime" "$entry" "$@"; fi',
    "echo 'service hook: the program is gone from where it was set up; run service init again' >&2",
    'if [ "$1" = hook ]; then exit 0; fi',
    'exit 127',
    '',
  ].join('\n');
}

const exportsOf = ({ env }: Program): string[] =>
  passedVariables.flatMap((name) => (env[name] ? [`export ${name}=${shellArgument(env[name], null)}`] : []));

/** Writes the script; false if it is up to date. */
export function writeLauncher(program: Program, exports = exportsOf(program)): boolean {
  const path = launcherPath(program.folders.state);
  const text = launcherText(program, exports);
  if (readText(path) === text) return false;
  writePrivate(path, text, 0o755);
  return true;
}

/** Updates an existing script after the runtime or the package has moved; its folders stay. Errors are ignored. */
export function refreshLauncher(program: Program): void {
  try {
    const before = readText(launcherPath(program.folders.state));
    if (before !== null) writeLauncher(program, before.match(/^export .*$/gm) ?? []);
  } catch {
    // A later command will update it.
  }
}
