import { required } from '../../cli/flags.ts';
import { BindingCommand, bindFlags } from './lib/binding-command.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingSelect extends BindingCommand<typeof PairingSelect> {
  static override summary = 'Begin proposed work with this very session';
  static override description =
    'For an agent of the person who proposed it, in the session that should do the work: --here says that this is the one. The\ndelivery daemon binds it. Another session in the place of one that is there needs --replace, and both sides prove anew\nthat they reach each other.';
  static override examples = [
    'service pairing select prq_01K5A0000000000000000000P1 --here',
    'service pairing select prq_01K5A0000000000000000000P1 --here --replace',
  ];
  static override seeAlso = ['pairing show', 'pairing accept', 'pairing request'];
  static override args = { pairing: required('Id of the request') };
  static override flags = bindFlags;

  override run(): Promise<void> {
    return this.bind('select', this.args.pairing);
  }
}
