import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { BaseCommand, booleanFlag, choice, confirmFlags } from '../../cli/base.ts';
import { readCatalog } from '../../cli/help/catalog.ts';
import { runtime } from '../../cli/runtime.ts';
import { flag, object, text } from '../../cli/shapes.ts';
import { shellArgument } from '../../contract/text.ts';
import { type Env, homeOf } from '../../local/folders.ts';
import { completionScript, type Shell, shells } from './lib/script.ts';

export const json = () =>
  z.union([object({ shell: text, script: text }), object({ shell: text, path: text, installed: flag })]);

export default class Completion extends BaseCommand<typeof Completion> {
  static override summary = 'Print the completion script of a shell';
  static override description =
    'Commands, flags and fixed values stand in the script; names of boards, agents, files and the like are asked for as\nyou type, and remembered for a minute. With --install one line is added to the file your shell starts with.';
  static override examples = [
    'service completion bash',
    'service completion zsh --install',
    'service completion fish | source',
  ];
  static override seeAlso = ['help'];
  static override args = { shell: choice('The shell', shells) };
  static override flags = { install: booleanFlag("Add it to the shell's file, after asking"), ...confirmFlags };

  override async run(): Promise<void> {
    const { shell } = this.args;
    const { root, env } = runtime();
    if (!this.flags.install) {
      const script = completionScript(shell, readCatalog(root));
      if (this.out.mode === 'text') return this.out.raw(script);
      return this.print<typeof json>({ shell, script }, () => script);
    }
    const path = shellFile(shell, env);
    const there = isInstalled(path);
    if (!there) {
      await this.confirm(`Add this line to ${path}: ${installLine(shell)}`, this.flags.yes);
      install(shell, path);
    }
    this.print<typeof json>({ shell, path, installed: !there }, () =>
      there ? `${path} has it already.` : `Added to ${path}; it works in the next shell.`,
    );
  }
}

const MARK = '# completion of service';

const lines: Record<Shell, string> = {
  bash: 'eval "$(service completion bash)"',
  zsh: 'eval "$(service completion zsh)"',
  fish: 'service completion fish | source',
  powershell: 'service completion powershell | Out-String | Invoke-Expression',
};

/** The file a shell reads when it starts. */
function shellFile(shell: Shell, env: Env): string {
  const home = homeOf(env);
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  if (shell === 'bash') return join(home, '.bashrc');
  if (shell === 'zsh') return join(env.ZDOTDIR || home, '.zshrc');
  if (shell === 'fish') return join(config, 'fish', 'config.fish');
  return process.platform === 'win32'
    ? join(home, 'Documents', 'PowerShell', 'profile.ps1')
    : join(config, 'powershell', 'profile.ps1');
}

/** The line that is added. It runs in any folder, and by the name that is known here: a system may have another `service`. */
function installLine(shell: Shell): string {
  const { bin, program } = runtime();
  const path = shell === 'powershell' ? `& '${program.replaceAll("'", "''")}'` : shellArgument(program);
  const name = bin.endsWith('.js') ? path : bin;
  return `${lines[shell].replace('service', () => name)} ${MARK}`;
}

/** Whether the file has the line already. */
const isInstalled = (path: string): boolean => existsSync(path) && readFileSync(path, 'utf8').includes(MARK);

/** Adds the line at the end of the file. */
function install(shell: Shell, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  appendFileSync(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${installLine(shell)}\n`);
}
