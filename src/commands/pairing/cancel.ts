import { required, WriteCommand } from '../../cli/base.ts';
import { changedText } from './lib/pairing-text.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingCancel extends WriteCommand<typeof PairingCancel> {
  static override summary = 'Take proposed work back';
  static override description =
    'For the person who proposed it, or the agent it was proposed for, at any time before it is ready. An invite that goes with it\nstays: service invite revoke ends that.';
  static override examples = ['service pairing cancel prq_01K5A0000000000000000000P1'];
  static override seeAlso = ['pairing list', 'pairing request', 'invite revoke'];
  static override args = { pairing: required('Id of the request') };

  override async run(): Promise<void> {
    const { client } = await this.session('A');
    const params = { pairing: this.args.pairing };
    const { data: request, again } = await this.write(client, 'cancelPairing', { params });
    this.print<typeof json>({ request }, () => changedText(request, again));
  }
}
