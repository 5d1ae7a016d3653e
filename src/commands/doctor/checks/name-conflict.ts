/** Checks which program the name `service` starts: some operating systems have another one. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { shellWord } from '../../../harness/setup/entries.ts';
import type { Installed } from '../../../harness/setup/installed.ts';
import { launcherPath } from '../../../harness/setup/launcher.ts';
import { otherService } from '../../../harness/setup/scan.ts';
import { type Env, homeOf } from '../../../local/folders.ts';
import { type Around, type Finding, failing, warning } from '../lib/check.ts';

/** Null where the login shell finds this program. An error where a rule lets agents run the other one. */
export async function nameConflict(installed: Installed, { env, folders, limitMs }: Around): Promise<Finding | null> {
  const script = launcherPath(folders.state);
  const other = await otherService(env, [runtime().program, script], limitMs / 2);
  if (other === null) return null;
  const allowed = installed.items.some(({ kind }) => kind === 'allow-rule');
  const unasked = allowed ? ', and agents may run it unasked' : '';
  const problem =
    other === 'nothing'
      ? 'Your login shell finds no "service", so agents may not either.'
      : `In your login shell "service" is ${other}, not this program${unasked}.`;
  return (allowed ? failing : warning)('harnesses', 'path_conflict', problem, firstOnPath(dirname(script), env));
}

/** Puts a folder before the others, in the file that the login shell reads last. */
function firstOnPath(folder: string, env: Env): string {
  const home = homeOf(env);
  const shell = basename(env.SHELL ?? 'sh');
  if (shell === 'fish')
    return `fish -c ${shellWord(`fish_add_path --universal --prepend --move ${shellWord(folder)}`)}`;
  const line = `export PATH=${shellWord(folder)}:"$PATH"`;
  return `printf '%s\\n' ${shellWord(line)} >> ${shellWord(profileOf(shell, home))}`;
}

function profileOf(shell: string, home: string): string {
  if (shell === 'zsh') return join(home, '.zprofile');
  const own = shell === 'bash' ? ['.bash_profile', '.bash_login'] : [];
  return [...own.map((name) => join(home, name)).filter(existsSync), join(home, '.profile')][0]!;
}
