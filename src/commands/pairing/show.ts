import { required } from '../../cli/flags.ts';
import type { PairingRequest } from '../../contract/types.ts';
import { DelegatedCommand } from '../board/lib/delegated-command.ts';
import { readByDaemon, sessionWithoutSeat } from './lib/pairing-requests.ts';
import { pairingText } from './lib/pairing-text.ts';
import { oneRequest } from './lib/shapes.ts';

export const json = () => oneRequest;

export default class PairingShow extends DelegatedCommand<typeof PairingShow> {
  static override summary = 'Show one proposal of work';
  static override description = 'Its two sides, how far they are, the work itself, and the command that comes next.';
  static override examples = ['service pairing show prq_01K5A0000000000000000000P1'];
  static override seeAlso = ['pairing list', 'pairing choose', 'pairing accept'];
  static override args = { pairing: required('Id of the request') };

  override async run(): Promise<void> {
    const { request, seat } = await this.shown();
    this.print<typeof json>({ request }, () => pairingText(request, this.times, seat));
  }

  /** By the daemon where the session has no seat yet. */
  private async shown(): Promise<{ request: PairingRequest; seat?: string | undefined }> {
    const { pairing } = this.args;
    const fresh = await sessionWithoutSeat(this.globals.as !== undefined);
    if (fresh) return { request: await readByDaemon(fresh, (await this.serverHere(fresh)).url, pairing) };
    const { client, seat } = await this.session('A');
    const { data: request } = await client.call('getPairingRequest', { params: { pairing } });
    return { request, seat: seat?.memberId };
  }
}
