/** Adds the completion of a shell to the files that it reads, and takes it away again. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unsaved } from '../../../cli/errors.ts';
import { runtime } from '../../../cli/runtime.ts';
import { shellArgument } from '../../../contract/text.ts';
import { changeFile, ifReadable, readText, removeFile } from '../../../harness/setup/files.ts';
import { homeOf } from '../../../local/folders.ts';
import { type Shell, shells } from './script.ts';

const MARK = '# completion of service';
/** The mark also tells what else was added with the line, and goes with it. */
const ALSO_FILE = `${MARK}, and this file`;
const ALSO_BREAK = `${MARK}, and the line break before`;

/** Where the program is gone, or another one of its name is found, the shell starts without a word. */
const lines: Record<Shell, (call: string) => string> = {
  bash: (call) => `command -v ${call} >/dev/null && eval "$(${call} completion bash 2>/dev/null)"`,
  zsh: (call) => `command -v ${call} >/dev/null && eval "$(${call} completion zsh 2>/dev/null)"`,
  fish: (call) => `command -q ${call}; and ${call} completion fish 2>/dev/null | source`,
  powershell: (call) =>
    `if (Get-Command ${call.replace(/^& /, '')} -ErrorAction Ignore) { ${call} completion powershell 2>$null | Out-String | Invoke-Expression }`,
};

/** The line that is added. It runs in any folder, and by the name that is known here: a system may have another `service`. */
export function installLine(shell: Shell): string {
  const { bin, program } = runtime();
  const path = shell === 'powershell' ? `& '${program.replaceAll("'", "''")}'` : shellArgument(program);
  return lines[shell](bin.endsWith('.js') ? path : bin);
}

/** The files to add it to: the one a shell starts with, or those in which fish looks first for what completes a command. */
export function shellFiles(shell: Shell): string[] {
  const { bin, env } = runtime();
  const home = homeOf(env);
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  if (shell === 'bash') return [join(home, '.bashrc')];
  if (shell === 'zsh') return [join(env.ZDOTDIR || home, '.zshrc')];
  if (shell === 'fish') {
    const names = bin === 'board-service' ? [bin] : ['service', 'board-service'];
    return names.map((name) => join(config, 'fish', 'completions', `${name}.fish`));
  }
  const folder = process.platform === 'win32' ? join(home, 'Documents', 'PowerShell') : join(config, 'powershell');
  return [join(folder, 'profile.ps1')];
}

/** Those of the files that do not have the line. */
export const filesWithout = (paths: string[]): string[] =>
  paths.filter((path) => !existsSync(path) || !readFileSync(path, 'latin1').includes(MARK));

/** Adds the line at the end of a file. @throws Failure `folder_unwritable` */
export function install(shell: Shell, path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const text = existsSync(path) ? readFileSync(path, 'latin1') : null;
    const broken = text === null || text === '' || text.endsWith('\n');
    const mark = text === null ? ALSO_FILE : broken ? MARK : ALSO_BREAK;
    appendFileSync(path, `${broken ? '' : '\n'}${installLine(shell)} ${mark}\n`);
  } catch (error) {
    throw unsaved(error, 'Nothing was added to it.', 'run the command again');
  }
}

interface Removal {
  path: string;
  kind: 'completion';
  action: 'delete' | 'update' | 'unreadable';
}

/** Takes the line out of the files of every shell; with `apply` false only says it. */
export function removeCompletion(apply: boolean): Removal[] {
  return shells
    .flatMap(shellFiles)
    .filter((path, i, paths) => filesWithout([path]).length === 0 && paths.indexOf(path) === i)
    .map((path) => {
      const action = ifReadable<Removal['action']>('unreadable', () => removeFrom(path, apply));
      return { path, kind: 'completion', action };
    });
}

function removeFrom(path: string, apply: boolean): 'delete' | 'update' {
  const text = readText(path) ?? '';
  const action = text.includes(ALSO_FILE) && without(text) === '' ? 'delete' : 'update';
  if (apply && action === 'delete') removeFile(path, []);
  if (apply && action === 'update') changeFile(path, (now) => (now === null ? null : without(now)));
  return action;
}

/** A text without the line; what was added to it since stays on lines of its own. */
const without = (text: string): string =>
  text.replace(/(\n|^)[^\n]*# completion of service(, and [a-z ]+)?(?:\n|$)/, (line, before, _also, at) => {
    const last = at + line.length === text.length;
    return line.includes(ALSO_BREAK) && last ? '' : before;
  });
