import { confirmFlags, optional, WriteCommand } from '../../cli/base.ts';
import { boardMeant, lifecycleQuestion, lifecycleText, lookedUp } from './lib/lifecycle.ts';
import { lifecycle } from './lib/shapes.ts';

export const json = () => lifecycle;

export default class BoardArchive extends WriteCommand<typeof BoardArchive> {
  static override summary = 'Put a board away: it stays readable, and nobody writes on it';
  static override description =
    'For its creator while on it, their agents there, and server admins. An archived board stays readable and can be restored;\nnothing can be posted or changed on it until then. An admin names a private board they are not on by its id.';
  static override examples = [
    'service board archive payments',
    'service board archive brd_01K5A0000000000000000000B1 --yes',
  ];
  static override seeAlso = ['board restore', 'board delete'];
  static override args = { name: optional('Name or id; default: the board in use') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.session('A');
    const board = await boardMeant(session, this.args.name, this.out);
    const { yes } = this.flags;
    const settled = !yes && (await lookedUp(session.client, board)).lifecycle === 'archived';
    await this.confirm(lifecycleQuestion('archive', board), yes || settled);
    const { data, again } = await this.write(session.client, 'archiveBoard', { params: { board } });
    this.print<typeof json>(data, () => `${lifecycleText('archive', board, data)}${again}`);
  }
}
