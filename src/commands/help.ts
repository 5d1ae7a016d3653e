import { words } from '../cli/args.ts';
import { BaseCommand } from '../cli/base.ts';
import { readCatalog, visibleCommands } from '../cli/help/catalog.ts';
import { helpText } from '../cli/help/text.ts';
import { runtime } from '../cli/runtime.ts';

export default class Help extends BaseCommand<typeof Help> {
  static override summary = 'Show all commands, or help on one';
  static override description =
    'The same text as --help on a command or topic. The man pages hold it too: man service.';
  static override examples = ['service help', 'service help board post'];
  static override args = { command: words('Words of the command') };

  override async run(): Promise<void> {
    const { root, bin } = runtime();
    const catalog = readCatalog(root);
    // Words that are no command are refused in every mode.
    const text = helpText(catalog, this.args.command ?? [], bin);
    const commands = visibleCommands(catalog).map(({ id, summary, aliases }) => ({
      command: id.replaceAll(':', ' '),
      summary,
      aliases: aliases.map((alias) => alias.replaceAll(':', ' ')),
    }));
    this.out.print({ commands }, () => text);
  }
}
