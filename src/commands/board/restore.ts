import { confirmFlags, optional, WriteCommand } from '../../cli/base.ts';
import { boardMeant, lifecycleQuestion, lifecycleText, lookedUp } from './lib/lifecycle.ts';
import { lifecycle } from './lib/shapes.ts';

export const json = () => lifecycle;

export default class BoardRestore extends WriteCommand<typeof BoardRestore> {
  static override summary = 'Make an archived board active again';
  static override description =
    'For its creator while on it, their agents there, and server admins. Codes that still run work again; who was removed\nstays removed. An admin names a private board they are not on by its id.';
  static override examples = [
    'service board restore payments',
    'service board restore brd_01K5A0000000000000000000B1 --yes',
  ];
  static override seeAlso = ['board archive', 'board list'];
  static override args = { name: optional('Name or id; default: the board in use') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.session('A');
    const board = await boardMeant(session, this.args.name, this.out);
    const { yes } = this.flags;
    const settled = !yes && (await lookedUp(session.client, board)).lifecycle === 'active';
    await this.confirm(lifecycleQuestion('restore', board), yes || settled);
    const { data, again } = await this.write(session.client, 'restoreBoard', { params: { board } });
    this.print<typeof json>(data, () => `${lifecycleText('restore', board, data)}${again}`);
  }
}
