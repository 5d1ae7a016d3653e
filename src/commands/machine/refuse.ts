import { required, WriteCommand } from '../../cli/base.ts';
import { answer, flag, object } from '../../cli/shapes.ts';

export const json = () => object({ request: answer('lookUpMachineRequest'), approved: flag });

export default class MachineRefuse extends WriteCommand<typeof MachineRefuse> {
  static override summary = 'Refuse a machine that asks for a key of yours';
  static override description = 'The machine is told so at once, and its code stops working.';
  static override examples = ['service machine refuse 4KQ-7ZX'];
  static override seeAlso = ['machine approve', 'machine show'];
  static override args = { code: required('The code the machine shows') };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const body = { code: this.args.code };
    const { data, again } = await this.write(client, 'refuseMachineRequest', { body });
    this.print<typeof json>({ request: data, approved: false }, () => `Refused; that machine gets no key${again}.`);
  }
}
