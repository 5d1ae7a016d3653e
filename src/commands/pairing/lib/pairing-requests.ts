/** Reads pairing requests: as the person or a seat, or through the daemon. */
import { runtime } from '../../../cli/runtime.ts';
import { sessionHere } from '../../../cli/session/here.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { requireFeature } from '../../../client/features.ts';
import { allRows } from '../../../client/pages.ts';
import type { PairingRequest } from '../../../contract/types.ts';
import type { SessionHere } from '../../../harness/detect.ts';
import { environmentToken } from '../../../local/actors.ts';

/** All that are listed: those a person has part in, or an agent's person on its board. */
export async function listPairings({ client }: Session, state: string | undefined): Promise<PairingRequest[]> {
  await requireFeature(client, 'onboarding');
  return allRows(client, 'listPairingRequests', 'requests', { query: { state, limit: 100 } });
}

/**
 * The current session, if it holds no seat yet: the daemon then reads requests for the person whose key it keeps.
 * @returns null where a seat, a credential or a person reads, which need no daemon for it.
 */
export async function sessionWithoutSeat(named: boolean): Promise<SessionHere | null> {
  const { env } = runtime();
  if (named || env.SERVICE_AGENT || environmentToken(env)) return null;
  const session = sessionHere();
  if (!session) return null;
  const { sessionSeats } = await import('../../../cli/session/own-seats.ts');
  return (await sessionSeats()).length === 0 ? session : null;
}

/** The request that is named, as the daemon sees it. */
export async function readByDaemon(session: SessionHere, server: string, pairing: string): Promise<PairingRequest> {
  const { askFor } = await import('../../../cli/session/ask-daemon.ts');
  const answer = await askFor(session, 'pairing', { server, action: 'get', pairing_id: pairing });
  return answer.pairing!;
}

/** All requests in a state, as the daemon lists them. */
export async function listByDaemon(
  session: SessionHere,
  server: string,
  state: 'open' | 'closed' | 'all' = 'open',
): Promise<PairingRequest[]> {
  const { askFor } = await import('../../../cli/session/ask-daemon.ts');
  const requests: PairingRequest[] = [];
  for (let after: string | undefined; ; ) {
    const page = await askFor(session, 'pairing', { server, action: 'list', state, ...(after ? { after } : {}) });
    requests.push(...(page.pairings ?? []));
    if (!page.next_after) return requests;
    after = page.next_after;
  }
}
