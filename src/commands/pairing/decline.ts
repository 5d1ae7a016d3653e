import { required, WriteCommand } from '../../cli/base.ts';
import { changedText } from './lib/pairing-text.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingDecline extends WriteCommand<typeof PairingDecline> {
  static override summary = 'Decline proposed work';
  static override description =
    'For whom it was proposed to, at any time before it is ready. The agent that proposed it is told.';
  static override examples = ['service pairing decline prq_01K5A0000000000000000000P1'];
  static override seeAlso = ['pairing list', 'pairing choose'];
  static override args = { pairing: required('Id of the request') };

  override async run(): Promise<void> {
    const { client } = await this.session('P');
    const params = { pairing: this.args.pairing };
    const { data: request, again } = await this.write(client, 'declinePairing', { params });
    this.print<typeof json>({ request }, () => changedText(request, again));
  }
}
