/** Requests about pairings, authorized by the person's key, a seat's token or a proof. */
import type { Reply } from '../../client/answer.ts';
import { Client } from '../../client/client.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer, BodyIn } from '../../contract/types.ts';
import { ControlRefusal } from '../control/errors.ts';
import { requirePersonKey } from '../delegation/delegation.ts';
import { asRefusal } from '../delegation/refusals.ts';
import type { SeatRef } from '../refs.ts';
import type { CredentialStore } from '../server-link/credentials.ts';
import type { Servers } from '../server-link/servers.ts';

type Caller = { proof: string } | { seat: SeatRef } | 'person';

interface Input<Name extends OperationName> {
  params?: Record<string, string | number>;
  query?: Record<string, string | number | undefined>;
  body?: BodyIn<Name>;
  idempotencyKey?: string;
}

export interface PairingApiOptions {
  servers: Pick<Servers, 'at'>;
  credentials: CredentialStore;
}

/** Attempts per call when errors are temporary, including the first. */
const ATTEMPTS = 4;

export class PairingApi {
  readonly #options: PairingApiOptions;

  constructor(options: PairingApiOptions) {
    this.#options = options;
  }

  /** @throws ControlRefusal with the server's own code, `server_unreachable`, `login_required`. */
  async call<Name extends OperationName>(
    origin: string,
    as: Caller,
    name: Name,
    input: Input<Name>,
  ): Promise<Answer<Name>> {
    const { servers } = this.#options;
    const { transport, identity } = servers.at(origin);
    try {
      await identity.check();
      const token = await this.#token(origin, as);
      const client = new Client({ origin: transport.server().address, token, ...transport.options() });
      const reply: Reply<Answer<Name>> = await client.call(name, { ...input, maxAttempts: ATTEMPTS });
      return reply.data;
    } catch (error) {
      throw asRefusal(error, origin);
    }
  }

  async #token(origin: string, as: Caller): Promise<string> {
    const { credentials } = this.#options;
    if (as === 'person') return requirePersonKey(credentials, origin);
    if ('proof' in as) return as.proof;
    const token = credentials.token(origin, as.seat.member_id);
    if (token !== null) return token;
    throw new ControlRefusal('unauthorized', 'This machine holds no working token for the seat.');
  }
}
