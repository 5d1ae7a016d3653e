import { required, WriteCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';

export const json = () => object({ delegation: answer('endDelegation') });

export default class KeyEndDelegation extends WriteCommand<typeof KeyEndDelegation> {
  static override summary = "End a machine's delegation";
  static override description =
    'The machine brings no further session onto a board with it; agents that came by it stay. As long as it has your key\nit can make another: to cut it off, revoke the key.';
  static override examples = ['service key end-delegation dlg_01K5A0000000000000000000D1'];
  static override seeAlso = ['key delegations', 'key revoke'];
  static override args = { delegation: required('Id of the delegation, as key delegations shows it') };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const { data: delegation, again } = await this.write(client, 'endDelegation', {
      params: { delegation: this.args.delegation },
    });
    const { id, name } = delegation;
    this.print<typeof json>({ delegation }, () => `Ended ${id}, called ${name}, on ${server.url}.${again}`);
  }
}
