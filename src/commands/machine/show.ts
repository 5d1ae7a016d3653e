import { BaseCommand, required } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { machineText } from './lib/machine-text.ts';

export const json = () => object({ request: answer('lookUpMachineRequest') });

export default class MachineShow extends BaseCommand<typeof MachineShow> {
  static override summary = 'Show which machine a short code stands for';
  static override description =
    'What the machine calls itself is its own claim; the address it asked from and the time are what the server saw.';
  static override examples = ['service machine show 4KQ-7ZX'];
  static override seeAlso = ['machine approve', 'machine refuse'];
  static override args = { code: required('The code the machine shows') };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const { data: request } = await client.call('lookUpMachineRequest', { body: { code: this.args.code } });
    this.print<typeof json>({ request }, () => machineText(request, server.url));
  }
}
