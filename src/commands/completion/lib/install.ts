/** Adds the completion to a shell's own file: one line, marked, once. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Env } from '../../../local/folders.ts';
import type { Shell } from './script.ts';

const MARK = '# completion of service';

const lines: Record<Shell, string> = {
  bash: 'eval "$(service completion bash)"',
  zsh: 'eval "$(service completion zsh)"',
  fish: 'service completion fish | source',
  powershell: 'service completion powershell | Out-String | Invoke-Expression',
};

/** The file a shell reads when it starts. */
export function shellFile(shell: Shell, env: Env, platform: NodeJS.Platform = process.platform): string {
  const home = env.HOME || homedir();
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  if (shell === 'bash') return join(home, '.bashrc');
  if (shell === 'zsh') return join(env.ZDOTDIR || home, '.zshrc');
  if (shell === 'fish') return join(config, 'fish', 'config.fish');
  return platform === 'win32'
    ? join(home, 'Documents', 'PowerShell', 'profile.ps1')
    : join(config, 'powershell', 'profile.ps1');
}

/** The line that is added. */
export const installLine = (shell: Shell): string => `${lines[shell]} ${MARK}`;

/** Whether the file has the line already. */
export const isInstalled = (path: string): boolean => existsSync(path) && readFileSync(path, 'utf8').includes(MARK);

/** Adds the line at the end of the file. */
export function install(shell: Shell, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  appendFileSync(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${installLine(shell)}\n`);
}
