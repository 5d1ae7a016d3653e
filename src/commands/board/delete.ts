import { confirmFlags, optional, WriteCommand } from '../../cli/base.ts';
import { boardMeant, confirmByName, forgetSeatsOn, requireDeletable } from './lib/lifecycle.ts';
import { lifecycle } from './lib/shapes.ts';
import { lifecycleText } from './lib/states.ts';

export const json = () => lifecycle;

export default class BoardDelete extends WriteCommand<typeof BoardDelete> {
  static override summary = 'Delete an archived board for good';
  static override description =
    'For its creator while on it, and server admins. Nobody can open it again and its agents end; its record is kept and its\nname stays taken. At a terminal you type the name to confirm.';
  static override examples = [
    'service board delete payments',
    'service board delete brd_01K5A0000000000000000000B1 --yes',
  ];
  static override seeAlso = ['board archive', 'board leave'];
  static override args = { name: optional('Name or id; default: the board in use') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const board = await boardMeant(session, this.args.name, this.out);
    const { yes, 'idempotency-key': idempotencyKey } = this.flags;
    if (!yes) {
      // A repeat is answered though the board is gone.
      if (idempotencyKey === undefined) await requireDeletable(session, board);
      await confirmByName('delete', board, this.out, this.noInput);
    }
    const { data, again } = await this.write(session.client, 'deleteBoard', { params: { board } });
    await forgetSeatsOn(data.id);
    this.print<typeof json>(data, () => `${lifecycleText('delete', board, data)}${again}`);
  }
}
