/** Adds the completion of a shell to the files that it reads, and takes it away again. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unsaved } from '../../../cli/errors.ts';
import { runtime } from '../../../cli/runtime.ts';
import { shellArgument } from '../../../contract/text.ts';
import { changeFile, ifReadable, readText, removeFile, Unreadable } from '../../../harness/setup/files.ts';
import { Failure } from '../../../local/failure.ts';
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
  const config = configFolder();
  if (shell === 'bash') return [join(home, '.bashrc')];
  if (shell === 'zsh') return [join(env.ZDOTDIR || home, '.zshrc')];
  if (shell === 'fish') {
    const names = bin === 'board-service' ? [bin] : ['service', 'board-service'];
    return names.map(fishFile);
  }
  const folder = process.platform === 'win32' ? join(home, 'Documents', 'PowerShell') : join(config, 'powershell');
  return [join(folder, 'profile.ps1')];
}

function configFolder(): string {
  const { env } = runtime();
  return env.XDG_CONFIG_HOME || join(homeOf(env), '.config');
}

const fishFile = (name: string): string => join(configFolder(), 'fish', 'completions', `${name}.fish`);

/** All files that may have the line, whatever name the program was called by; earlier builds wrote to `config.fish`. */
const allFiles = (): Set<string> =>
  new Set([
    ...shells.flatMap(shellFiles),
    ...['service', 'board-service'].map(fishFile),
    join(configFolder(), 'fish', 'config.fish'),
  ]);

/** Those of the files that do not have the line. @throws Failure `settings_unreadable` */
export const filesWithout = (paths: string[]): string[] =>
  paths.filter((path) => {
    const has = ifReadable(null, () => hasLine(path));
    if (has !== null) return !has;
    throw new Failure('settings_unreadable', `${path} cannot be read, so nothing was added to it.`, {
      hint: 'Make it a file that you can read; then run the command again',
    });
  });

/** @throws Unreadable */
function hasLine(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    // All bytes are characters here: what is not UTF-8 is read, too.
    const text = readFileSync(path, 'latin1');
    return without(text) !== text;
  } catch (error) {
    throw new Unreadable((error as Error).message);
  }
}

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
  // A file that cannot be read is left to its owner: that the line is in it is not known.
  return [...allFiles()]
    .filter((path) => ifReadable(false, () => hasLine(path)))
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
  text.replace(/(\r?\n|^)[^\n]*# completion of service(, and [a-z ]+)?(?:\r?\n|$)/, (line, before, _also, at) => {
    const last = at + line.length === text.length;
    return line.includes(ALSO_BREAK) && last ? '' : before;
  });
