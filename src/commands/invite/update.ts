import { required, requiredFlag, WriteCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';

export const json = () => object({ invite: answer('getInvite') });

export default class InviteUpdate extends WriteCommand<typeof InviteUpdate> {
  static override summary = 'Change the handle an invite suggests';
  static override description = 'As long as the invite is active. An empty handle suggests none.';
  static override examples = ['service invite update inv_01K5A0000000000000000000V1 --handle maya'];
  static override seeAlso = ['invite show', 'invite list'];
  static override mayBeEmpty = ['handle'];
  static override args = { invite: required('Id of the invite') };
  static override flags = { handle: requiredFlag('NAME', 'Handle to suggest') };

  override async run(): Promise<void> {
    const { client } = await this.session('A');
    const { data: invite, again } = await this.write(client, 'updateInvite', {
      params: { invite: this.args.invite },
      body: { suggested_handle: this.flags.handle },
    });
    this.print<typeof json>(
      { invite },
      () => `${invite.id} suggests ${invite.suggested_handle ?? 'no handle'} now${again}.`,
    );
  }
}
