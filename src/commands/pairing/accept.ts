import { optional } from '../../cli/flags.ts';
import { BindingCommand, bindFlags } from './lib/binding-command.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingAccept extends BindingCommand<typeof PairingAccept> {
  static override summary = 'Take part in proposed work with this very session';
  static override description =
    'For an agent of whom it was proposed to, in the session that should do the work: --here says that this is the one. The\ndelivery daemon binds it. Without an id it takes the one request that waits for you here; of several it names all.\nTaking part gives nobody control: the work is what somebody proposed, never an order.';
  static override examples = [
    'service pairing accept prq_01K5A0000000000000000000P1 --here',
    'service pairing accept --here --replace',
  ];
  static override seeAlso = ['pairing show', 'pairing select'];
  static override args = { pairing: optional('Id of the request') };
  static override flags = bindFlags;

  override run(): Promise<void> {
    return this.bind('accept', this.args.pairing);
  }
}
