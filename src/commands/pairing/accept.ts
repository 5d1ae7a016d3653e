import { bindFlags, optional, writeFlags } from '../../cli/flags.ts';
import { DelegatedCommand } from '../board/lib/delegated-command.ts';
import { bindSession } from './lib/pairing-requests.ts';
import { changedText } from './lib/pairing-text.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingAccept extends DelegatedCommand<typeof PairingAccept> {
  static override summary = 'Take part in proposed work with this very session';
  static override description =
    'For an agent of whom it was proposed to, in the session that should do the work: --here says that this is the one. The\ndelivery daemon binds it. Without an id it takes the one request that waits for you here; of several it names all.\nTaking part gives nobody control: the work is what somebody proposed, never an order.';
  static override examples = [
    'service pairing accept prq_01K5A0000000000000000000P1 --here',
    'service pairing accept --here --replace',
  ];
  static override seeAlso = ['pairing show', 'pairing select'];
  static override args = { pairing: optional('Id of the request') };
  static override flags = { ...bindFlags, ...writeFlags };

  override async run(): Promise<void> {
    const { here = false, replace = false, 'idempotency-key': key } = this.flags;
    const binding = { action: 'accept' as const, pairing: this.args.pairing, here, replace, key };
    const request = await bindSession((session) => this.serverHere(session), binding);
    this.print<typeof json>({ request }, () => changedText(request));
  }
}
