import { bindFlags, required, writeFlags } from '../../cli/flags.ts';
import { DelegatedCommand } from '../board/lib/delegated-command.ts';
import { bindSession } from './lib/pairing-requests.ts';
import { changedText } from './lib/pairing-text.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingSelect extends DelegatedCommand<typeof PairingSelect> {
  static override summary = 'Begin proposed work with this very session';
  static override description =
    'For an agent of the person who proposed it, in the session that should do the work: --here says that this is the one. The\ndelivery daemon binds it. Another session in the place of one that is there needs --replace, and both sides prove anew\nthat they reach each other.';
  static override examples = [
    'service pairing select prq_01K5A0000000000000000000P1 --here',
    'service pairing select prq_01K5A0000000000000000000P1 --here --replace',
  ];
  static override seeAlso = ['pairing show', 'pairing accept', 'pairing request'];
  static override args = { pairing: required('Id of the request') };
  static override flags = { ...bindFlags, ...writeFlags };

  override async run(): Promise<void> {
    const { here = false, replace = false, 'idempotency-key': key } = this.flags;
    const binding = { action: 'select' as const, pairing: this.args.pairing, here, replace, key };
    const request = await bindSession((session) => this.serverHere(session), binding);
    this.print<typeof json>({ request }, () => changedText(request));
  }
}
