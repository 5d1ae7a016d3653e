import { booleanFlag, choiceFlag, optional, stringFlag, writeFlags } from '../../cli/flags.ts';
import { board, flag, member, object, text } from '../../cli/shapes.ts';
import { askName, createBoard, createdText, createInSession } from './lib/create.ts';
import { DelegatedCommand } from './lib/delegated-command.ts';

export const json = () =>
  object({
    board_record: board,
    linked: flag,
    stays_linked: text.optional(),
    /** In a session: its seat there, and how messages reach it. */
    agent: member.optional(),
    mode: text.nullable().optional(),
    join_command: text,
  });

export default class BoardCreate extends DelegatedCommand<typeof BoardCreate> {
  static override aliases = ['board new'];
  static override summary = 'Create a board';
  static override description =
    'You own it. Without a name it asks for one at a terminal, and suggests that of the folder. A folder that is linked to no\nboard yet is linked to the new one, so that commands run there need no --board.';
  static override examples = [
    'service board create payments',
    'service board create payments --title "Payment rewrite" --private',
    'service board create review --template writer-reviewer',
  ];
  static override seeAlso = ['board templates', 'board link', 'agent create'];
  static override args = { name: optional('Name: small letters, digits and dashes') };
  static override flags = {
    title: stringFlag('TEXT', 'What it is about'),
    template: stringFlag('NAME', 'Start from a template (service board templates)'),
    private: booleanFlag('Only people who are added can see it'),
    preset: choiceFlag(['starter', 'recommended'], 'Policy to start with'),
    'charter-file': stringFlag('PATH|-', 'File with the charter'),
    'no-link': booleanFlag('Leave this folder as it is'),
    ...writeFlags,
  };

  override async run(): Promise<void> {
    const name = this.args.name ?? (await askName(this.out, this.noInput));
    const request = { name, ...this.flags };
    const delegated = await this.delegated();
    if (delegated) {
      const { record, text } = await createInSession(delegated, request, this.out);
      return this.print<typeof json>(record, text);
    }
    const session = await this.session('P');
    const { record, reply } = await createBoard(session, request, this.out);
    const again = this.again(reply);
    this.print<typeof json>(record, () => createdText(record, session.server.url, again));
  }
}
