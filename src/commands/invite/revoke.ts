import { required, WriteCommand } from '../../cli/base.ts';
import { answer, whole } from '../../cli/shapes.ts';

export const json = () => whole(answer('revokeInvite'));

export default class InviteRevoke extends WriteCommand<typeof InviteRevoke> {
  static override summary = 'Revoke an invite';
  static override description = 'Its link stops working at once. People who have connected with it stay.';
  static override examples = ['service invite revoke inv_01K5A0000000000000000000V1'];
  static override seeAlso = ['invite list', 'invite create'];
  static override args = { invite: required('Id of the invite') };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const params = { invite: this.args.invite };
    const { data, again } = await this.write(client, 'revokeInvite', { params });
    this.print<typeof json>(data, () =>
      data.changed ? `Revoked ${data.id}${again}.` : `${data.id} was used or revoked before; nothing changed.`,
    );
  }
}
