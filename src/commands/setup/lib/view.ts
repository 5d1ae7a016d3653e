/** What `service setup` reads of boards and requests: as the person, or through the daemon in a session. */
import { runtime } from '../../../cli/runtime.ts';
import { askFor, unlessAway } from '../../../cli/session/ask-daemon.ts';
import { nameEndedKey } from '../../../cli/session/ended-key.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { newIdempotencyKey } from '../../../client/idempotency.ts';
import type { PairingRequest } from '../../../contract/types.ts';
import type { SessionHere } from '../../../harness/detect.ts';
import { entryAt, readCredentials } from '../../../local/keys/credentials.ts';
import { type Delegated, joinHere, readBoardsHere } from '../../board/lib/delegated.ts';
import { listPairings } from '../../pairing/lib/pairing-requests.ts';

export interface View {
  personId: string | null;
  /** Names of the boards the person is on; null: nobody can say now. */
  boards(): Promise<string[] | null>;
  /** Open requests the person has part in; null: nobody can say now. */
  pairings(): Promise<PairingRequest[] | null>;
  pairing(id: string): Promise<PairingRequest | null>;
  /** Takes part with this session; null in a terminal. */
  accepts: ((request: PairingRequest) => Promise<PairingRequest>) | null;
}

export function personView(session: Session): View {
  const { client, entry } = session;
  return {
    personId: entry?.person?.id ?? null,
    async boards() {
      const { data } = await client.call('listBoards').catch(async (error) => {
        await nameEndedKey(error, session);
        throw error;
      });
      return data.boards.filter((board) => board.on_board).map(({ name }) => name);
    },
    pairings: () => listPairings(session, undefined),
    async pairing(id) {
      return (await client.call('getPairingRequest', { params: { pairing: id } })).data;
    },
    accepts: null,
  };
}

export function sessionView(session: SessionHere, origin: string): View {
  const entry = entryAt(readCredentials(runtime().folders), origin)?.[1] ?? null;
  const server = { name: entry?.name ?? origin, url: origin, local: entry?.mode === 'local' };
  const delegated: Delegated = { session, server, entry };
  const asked = (fields: { action: 'list' | 'get' | 'accept'; pairing_id?: string; idempotency_key?: string }) =>
    askFor(session, 'pairing', { server: origin, ...fields });
  return {
    personId: entry?.person?.id ?? null,
    boards: () => unlessAway(null, async () => (await readBoardsHere(delegated, false)).boards.map(({ name }) => name)),
    pairings: () => unlessAway(null, async () => (await asked({ action: 'list' })).pairings ?? []),
    pairing: (id) => unlessAway(null, async () => (await asked({ action: 'get', pairing_id: id })).pairing!),
    async accepts(request) {
      const board = request.display?.boards[0]?.name;
      if (board !== undefined) await joinHere(delegated, { board });
      const key = newIdempotencyKey();
      const { pairing } = await asked({ action: 'accept', pairing_id: request.id, idempotency_key: key });
      return pairing ?? request;
    },
  };
}
