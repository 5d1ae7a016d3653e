/** `pairing.json`: the proofs in use, saved before they are sent to the server and never used after a restart. */
import { existsSync, rmSync } from 'node:fs';
import { writePrivate } from '../../local/private-file.ts';
import type { Endpoint } from './endpoint.ts';

export class ProofFile {
  readonly #path: string;

  /** Deletes the file of an earlier daemon. */
  constructor(path: string) {
    this.#path = path;
    this.clear();
  }

  /** Durable when it returns. */
  save(endpoints: readonly Endpoint[]): void {
    const open = endpoints.filter(({ state }) => state === 'open');
    if (open.length === 0) {
      this.clear();
      return;
    }
    const proofs = open.map(({ bound: { origin, requestId, side, seat }, token, generation, bindingHash }) => ({
      origin,
      request_id: requestId,
      side,
      agent_id: seat.member_id,
      generation,
      session_binding: bindingHash,
      token,
    }));
    writePrivate(this.#path, `${JSON.stringify({ v: 1, proofs }, null, 2)}\n`);
  }

  clear(): void {
    if (existsSync(this.#path)) rmSync(this.#path, { force: true });
  }
}
