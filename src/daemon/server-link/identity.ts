/** Checks, without sending a credential, that the server at an address is still the pinned one. */
import { unexpected } from '../../client/errors.ts';
import { SeatFailure } from './link.ts';
import type { Transport } from './transport.ts';

export class Identity {
  readonly #transport: Transport;
  #checking: Promise<void> | null = null;
  /** The server id of the last answer. */
  lastServerId: string | null = null;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Resolves when the pinned server answers. The result is cached until `invalidate`.
   *
   * @throws SeatFailure `server_identity_changed`; ClientError if the server could not be reached, which is not cached
   */
  check(): Promise<void> {
    if (this.#checking) return this.#checking;
    const checking = this.#ask();
    this.#checking = checking;
    checking.catch((error: unknown) => {
      if (!(error instanceof SeatFailure) && this.#checking === checking) this.#checking = null;
    });
    return checking;
  }

  /** Forgets the result, because another server may answer after a lost connection. */
  invalidate(): void {
    this.#checking = null;
  }

  async #ask(): Promise<void> {
    const { address, serverId } = this.#transport.server();
    const { data } = await this.#transport.client().call('getInfo', { maxAttempts: 1 });
    if (typeof data.server_id !== 'string') throw unexpected('The answer does not say which server it is.');
    this.lastServerId = data.server_id;
    if (data.server_id === serverId) return;
    throw new SeatFailure(
      'server_identity_changed',
      `Another server answers at ${address} than before, so nothing was sent.`,
      'server_identity_changed',
    );
  }
}
