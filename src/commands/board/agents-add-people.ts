import { choice, confirmFlags, WriteCommand } from '../../cli/base.ts';
import { flag, object } from '../../cli/shapes.ts';
import { readBoard } from './lib/settings.ts';

export const json = () => object({ agents_add_people: flag });

export default class BoardAgentsAddPeople extends WriteCommand<typeof BoardAgentsAddPeople> {
  static override boardFirst = true;
  static override summary = 'Let agents add people to a board, or not';
  static override description =
    "For owners. Where it is on, agents may add people whose role has the grant add_people, while the server's setting\nallows it too. On a private board it is asked about: people an agent adds see all of it.";
  static override examples = [
    'service board agents-add-people off --board payments',
    'service board agents-add-people on --board payments --yes',
  ];
  static override seeAlso = ['board add', 'board roles', 'settings set'];
  static override args = { value: choice('on or off', ['on', 'off']) };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.onBoard('P');
    const { board } = session;
    const wanted = this.args.value === 'on';
    const before = await readBoard(session);
    if (wanted && before.visibility === 'private' && !before.agents_add_people) {
      const question = `${board} is private. Let agents add people to it, who then see all of it?`;
      await this.confirm(question, this.flags.yes);
    }
    const params = { board: session.board };
    const { data, again } = await this.write(session.client, 'updateBoard', {
      params,
      body: { agents_add_people: wanted },
    });
    const { agents_add_people } = data;
    const text = agents_add_people ? 'Agents may add people to' : 'Agents may not add people to';
    this.print<typeof json>({ agents_add_people }, () => `${text} ${board}.${again}`);
  }
}
