/** Requests about pairings, authorized by the person's key, a seat's token or a proof. */
import type { CallInput } from '../../client/client.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer } from '../../contract/types.ts';
import { ControlRefusal } from '../control/errors.ts';
import type { DelegatedBoardsOptions } from '../delegation/delegated-boards.ts';
import { requirePersonKey } from '../delegation/delegation.ts';
import { asRefusal } from '../delegation/refusals.ts';
import type { SeatRef } from '../refs.ts';
import type { CredentialStore } from '../server-link/credentials.ts';

type Caller = { proof: string } | { seat: SeatRef } | 'person';

/** Attempts per call when errors are temporary, including the first. */
const ATTEMPTS = 4;

/** @throws ControlRefusal with the server's own code, `server_unreachable`, `login_required`. */
export type PairingCall = <Name extends OperationName>(
  origin: string,
  as: Caller,
  name: Name,
  input: CallInput<Name>,
) => Promise<Answer<Name>>;

/** A function that sends requests about pairings. */
export function pairingCalls({
  servers,
  credentials,
}: Pick<DelegatedBoardsOptions, 'servers' | 'credentials'>): PairingCall {
  return async (origin, as, name, input) => {
    const { transport, identity } = servers.at(origin);
    try {
      await identity.check();
      const token = await tokenOf(credentials, origin, as);
      return (await transport.client(token).call(name, { ...input, maxAttempts: ATTEMPTS })).data;
    } catch (error) {
      throw asRefusal(error, origin);
    }
  };
}

async function tokenOf(credentials: CredentialStore, origin: string, as: Caller): Promise<string> {
  if (as === 'person') return requirePersonKey(credentials, origin);
  if ('proof' in as) return as.proof;
  const token = credentials.token(origin, as.seat.member_id);
  if (token !== null) return token;
  throw new ControlRefusal('unauthorized', 'This machine holds no working token for the seat.');
}
