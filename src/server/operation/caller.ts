/**
 * Who makes a request. Resolved once to decide about the request's shape and limits, and again inside the transaction
 * that reads or changes anything, so that nothing commits after its credential ended.
 */

import { Refusal } from '../../contract/errors.ts';
import { patterns } from '../../contract/ids.ts';
import type { CredentialKind } from '../../contract/operations.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { findKey, findSeat, type KeyRow, type SeatRow } from '../identity/credentials.store.ts';
import type { RootKey } from '../identity/root-key.ts';

/** What was presented, as far as it can be told without a look-up. */
export interface Credential {
  kind: 'PK' | 'AG';
  digest: Buffer;
  token: string;
}

/** Permanent ids an answer shows; a replay asks again whether the caller may still see them. */
export interface Shown {
  board?: string;
  /** The operation needed membership, not only sight. */
  member?: true;
  /** A board that was described as the holder of a name. */
  holder?: string;
  message?: string;
  seat?: string;
  token_digest?: string;
}

interface CallerBase {
  credential: Credential;
  key: Pick<KeyRow, 'key_id' | 'key_expires_at' | 'key_idle_seconds' | 'key_last_used_at'>;
  person: Pick<KeyRow, 'person_id' | 'handle' | 'display_name' | 'server_role' | 'person_created_at'>;
  /** Filled in by the look-ups of the operation as they succeed. */
  shown: Shown;
}

export interface PersonCaller extends CallerBase {
  kind: 'PK';
  seat: null;
}

export interface SeatCaller extends CallerBase {
  kind: 'AG';
  seat: SeatRow;
}

export type Caller = PersonCaller | SeatCaller;

/** Tells the kind of a bearer token by its prefix. @throws Refusal `unauthorized` for anything else. */
export function credentialOf(token: string, root: RootKey): Credential {
  if (patterns.accessKey.test(token)) return { kind: 'PK', digest: root.tokenDigest(token), token };
  if (patterns.agentToken.test(token)) return { kind: 'AG', digest: root.tokenDigest(token), token };
  throw unauthorized();
}

export function unauthorized(): Refusal {
  return new Refusal('unauthorized', 'This request has no working credential.', {
    hint: 'Send "Authorization: Bearer <access key>". On the command line: service status.',
    headers: { 'WWW-Authenticate': 'Bearer realm="service"' },
  });
}

/**
 * Reads the credential's rows and decides whether it works at `tx.now`.
 * @throws Refusal `unauthorized`; for a seat also `board_not_found` (its board is deleted) and `agent_removed`.
 */
export async function authenticate(tx: ReadTx | WriteTx, credential: Credential): Promise<Caller> {
  if (credential.kind === 'PK') {
    const row = await findKey(tx, credential.digest);
    if (!row || !keyWorks(row, tx.now)) throw unauthorized();
    return { kind: 'PK', credential, key: row, person: row, seat: null, shown: {} };
  }
  const seat = await findSeat(tx, credential.digest);
  if (!seat) throw unauthorized();
  if (seat.lifecycle === 'deleted') throw boardNotFound();
  if (seat.status !== 'active') throw agentRemoved(seat);
  if (!keyWorks(seat, tx.now)) throw unauthorized();
  return { kind: 'AG', credential, key: seat, person: seat, seat, shown: {} };
}

/** A key works while it is not revoked, not expired (an end of exactly now counts as expired) and its person is there. */
export function keyWorks(row: KeyRow, now: number): boolean {
  if (row.key_revoked_at !== null || row.person_removed_at !== null) return false;
  return row.key_expires_at === null || row.key_expires_at > now;
}

/** The one answer for a board that is missing, hidden or deleted. */
export function boardNotFound(): Refusal {
  return new Refusal('board_not_found', 'There is no such board here.', {
    hint: 'service board list shows the boards you can see.',
  });
}

function agentRemoved(seat: SeatRow): Refusal {
  return new Refusal('agent_removed', `The agent ${seat.member_name} is no longer on ${seat.board_name}.`, {
    hint: 'Its person can add a new agent: service agent create NAME --board BOARD.',
    details: {
      agent: seat.member_name,
      board: seat.board_name,
      removed_at: seat.removed_at === null ? null : new Date(seat.removed_at).toISOString(),
      removed_by: seat.removed_by,
    },
  });
}

/** Whether this kind of credential may call an operation at all; nothing is looked up for it. @throws Refusal. */
export function gate(kind: 'PK' | 'AG', allowed: readonly CredentialKind[]): void {
  if (allowed.includes(kind)) return;
  if (kind === 'AG') {
    throw new Refusal('human_token_required', 'Only a person may do this.', {
      hint: "Ask the agent's person to do it with their own access key.",
    });
  }
  throw new Refusal('agent_token_required', 'Only an agent may do this.', {
    hint: "Use the agent's own token: on the command line, --as AGENT.",
  });
}
