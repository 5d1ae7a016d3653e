import { confirmFlags, required, WriteCommand } from '../../cli/base.ts';
import { answer, flag, object } from '../../cli/shapes.ts';
import { machineText } from './lib/machine-text.ts';

export const json = () => object({ request: answer('lookUpMachineRequest'), approved: flag });

export default class MachineApprove extends WriteCommand<typeof MachineApprove> {
  static override summary = 'Let a machine of yours have a key';
  static override description =
    'Shows which machine the code stands for and asks. Approve only a code you just saw on a machine of your own:\neveryone who uses that machine acts as you from then on.';
  static override examples = ['service machine approve 4KQ-7ZX', 'service machine approve 4KQ-7ZX --server team --yes'];
  static override seeAlso = ['machine refuse', 'machine show', 'machine request'];
  static override args = { code: required('The code the machine shows') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const body = { code: this.args.code };
    if (!this.flags.yes) {
      const { data } = await client.call('lookUpMachineRequest', { body });
      await this.confirm(`${machineText(data, server.url)} Approve it?`, false);
    }
    const { data: request, again } = await this.write(client, 'approveMachineRequest', { body });
    this.print<typeof json>(
      { request, approved: true },
      () => `Approved; "${request.label}" collects its own key now${again}.`,
    );
  }
}
