import { z } from 'zod';
import { BaseCommand, booleanFlag, words } from '../cli/base.ts';
import { readCatalog, visibleCommands } from '../cli/help/catalog.ts';
import { helpHere } from '../cli/help/help-text.ts';
import { runtime } from '../cli/runtime.ts';
import { object, text } from '../cli/shapes.ts';
import { paged } from '../cli/terminal/pager.ts';

export const json = () =>
  object({ commands: z.array(z.strictObject({ command: text, summary: text, aliases: z.array(text) })) });

export default class Help extends BaseCommand<typeof Help> {
  static override readOnly = true;
  static override summary = 'Show all commands, or help on one';
  static override description =
    'The same text as --help on a command or topic. At a terminal, what is longer than the screen is shown in $PAGER.\nThe man pages hold it too: man service. Exit codes and variables: service help exit-codes, service help environment.';
  static override examples = [
    'service help',
    'service help board',
    'service help board post --no-pager',
    'service help exit-codes',
  ];
  static override args = { command: words('Words of the command, or exit-codes, or environment') };
  static override flags = { 'no-pager': booleanFlag('Print it at once, also where it is long') };

  override async run(): Promise<void> {
    const { root, bin } = runtime();
    const catalog = readCatalog(root);
    // Words that are no command are refused in every mode.
    const text = helpHere(catalog, this.args.command ?? [], bin);
    if (this.out.mode === 'text') {
      if (!this.out.quiet) await paged(text, this.flags['no-pager']);
      return;
    }
    const commands = visibleCommands(catalog).map(({ id, summary, aliases }) => ({
      command: id.replaceAll(':', ' '),
      summary: summary ?? '',
      aliases: aliases.map((alias) => alias.replaceAll(':', ' ')),
    }));
    this.print<typeof json>({ commands }, () => '');
  }
}
