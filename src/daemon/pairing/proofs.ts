/** `pairing.json`: the proofs in use, saved before they are sent to the server and never used after a restart. */
import { rmSync } from 'node:fs';
import { writePrivate } from '../../local/private-file.ts';
import type { Endpoint } from './endpoint.ts';

/** Saves the proofs of open endpoints, durably; without any, there is no file. */
export function saveProofs(path: string, endpoints: Iterable<Endpoint>): void {
  const open = [...endpoints].filter(({ state }) => state === 'open');
  if (open.length === 0) return void rmSync(path, { force: true });
  const proofs = open.map(({ bound: { origin, requestId, side, seat }, token, generation, bindingHash }) => ({
    origin,
    request_id: requestId,
    side,
    agent_id: seat.member_id,
    generation,
    session_binding: bindingHash,
    token,
  }));
  writePrivate(path, `${JSON.stringify({ v: 1, proofs }, null, 2)}\n`);
}
