import { choiceFlag, listFlags } from '../../cli/flags.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import type { PairingRequest } from '../../contract/types.ts';
import { DelegatedCommand } from '../board/lib/delegated-command.ts';
import { listByDaemon, listPairings, sessionWithoutSeat } from './lib/pairing-requests.ts';
import { pairingRows } from './lib/pairing-text.ts';

export const json = () => object({ requests: answer('listPairingRequests').shape.requests });

export default class PairingList extends DelegatedCommand<typeof PairingList> {
  static override aliases = ['pairings'];
  static override summary = 'List proposals of work between agents that you have part in';
  static override description =
    'Newest first: those that are open, unless --state says otherwise; ended ones for seven days. An agent sees those of its\nperson on its board.';
  static override examples = ['service pairing list', 'service pairing list --state all --json'];
  static override seeAlso = ['pairing show', 'pairing request', 'pairing accept'];
  static override flags = { state: choiceFlag(['open', 'closed', 'all'], 'Only those in this state'), ...listFlags };

  override async run(): Promise<void> {
    const { url, requests } = await this.listed();
    await this.printList<typeof json>({ requests }, requests, {
      of: url,
      rows: () => pairingRows(requests),
      empty: `Propose work: service pairing request HANDLE "WORK" --board BOARD${stayingAt({ choice: this.choice('A') })}`,
    });
  }

  /** By the daemon where the session has no seat yet. */
  private async listed(): Promise<{ url: string; requests: PairingRequest[] }> {
    const fresh = await sessionWithoutSeat(this.globals.as !== undefined);
    if (fresh) {
      const { url } = await this.serverHere(fresh);
      return { url, requests: await listByDaemon(fresh, url, this.flags.state) };
    }
    const session = await this.session('A');
    return { url: session.server.url, requests: await listPairings(session, this.flags.state) };
  }
}
