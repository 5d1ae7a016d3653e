import { z } from 'zod';
import { BaseCommand, booleanFlag, choice, confirmFlags } from '../../cli/base.ts';
import { readCatalog } from '../../cli/help/catalog.ts';
import { runtime } from '../../cli/runtime.ts';
import { flag, object, text } from '../../cli/shapes.ts';
import { filesWithout, install, installLine, shellFiles } from './lib/install.ts';
import { completionScript, shells } from './lib/script.ts';

export const json = () =>
  z.union([object({ shell: text, script: text }), object({ shell: text, paths: z.array(text), installed: flag })]);

export default class Completion extends BaseCommand<typeof Completion> {
  static override summary = 'Print the completion script of a shell';
  static override description =
    'Commands, flags and fixed values stand in the script; names of boards, agents, files and the like are asked for as\nyou type, and remembered for a minute. With --install one line is added to the file your shell starts with, for fish\nto its files for completions; service uninstall takes it away.';
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
    const { root } = runtime();
    if (!this.flags.install) {
      const script = completionScript(shell, readCatalog(root));
      if (this.out.mode === 'text') return this.out.raw(script);
      return this.print<typeof json>({ shell, script }, () => script);
    }
    const paths = shellFiles(shell);
    const missing = filesWithout(paths);
    const named = (missing.length > 0 ? missing : paths).join(' and ');
    if (missing.length > 0) await this.confirm(`Add this line to ${named}: ${installLine(shell)}`, this.flags.yes);
    for (const path of missing) install(shell, path);
    this.print<typeof json>({ shell, paths, installed: missing.length > 0 }, () =>
      missing.length > 0 ? `Added to ${named}; it works in the next shell.` : `Already in ${named}.`,
    );
  }
}
