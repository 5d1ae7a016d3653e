/** Machines that asked for a key. Only keyed digests of their codes and secrets are kept. */
import { anyRow, firstRow, purgeRows } from '../db/query.ts';
import { insertInto, rowBy } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';

export type MachineRow = {
  id: string;
  code_digest: Buffer;
  secret_digest: Buffer;
  /** As asked for; whether somebody has it is decided when the code is used. */
  handle: string;
  label: string;
  requested_from: string;
  created_at: number;
  /** Covers the collection too. */
  expires_at: number;
  state: 'pending' | 'approved' | 'refused' | 'collected';
  decided_by: string | null;
  decided_key: string | null;
  /** How often its machine asked while nothing was decided. */
  polls: number;
};

/** A machine that has asked this often is not heard any more. */
export const MAX_POLLS = 200;
const KEPT_MS = 86_400_000;

/** Requests that can still lead to a key. */
export const liveRequests = (tx: ReadTx): Promise<Pick<MachineRow, 'requested_from' | 'expires_at'>[]> =>
  tx.query((db) =>
    db('machine_requests')
      .whereIn('state', ['pending', 'approved'])
      .where('expires_at', '>', tx.now)
      .where('polls', '<', MAX_POLLS)
      .select('requested_from', 'expires_at'),
  );

/** Whether a code stands for a request that is pending or approved, expired ones included. */
export const codeInUse = (tx: ReadTx, digest: Buffer): Promise<boolean> =>
  anyRow(tx, (db) =>
    db('machine_requests').where('code_digest', digest).whereIn('state', ['pending', 'approved']).select('id'),
  );

/** The live request that waits for its person to use this code. */
export const pendingByCode = (tx: ReadTx, digest: Buffer): Promise<MachineRow | undefined> =>
  firstRow(tx, (db) =>
    db('machine_requests')
      .where({ code_digest: digest, state: 'pending' })
      .where('expires_at', '>', tx.now)
      .where('polls', '<', MAX_POLLS)
      .select('*'),
  );

/** The request with this secret, ended ones included. */
export const requestBySecret = rowBy<MachineRow>('machine_requests', 'secret_digest');

export const insertRequest = insertInto<MachineRow>('machine_requests');

/** Decides a pending request; 0 when another decision came first. */
export const decide = (
  tx: WriteTx,
  id: string,
  state: 'approved' | 'refused',
  by: { personId: string; keyId: string },
): Promise<number> =>
  tx.change((db) =>
    db('machine_requests')
      .where({ id, state: 'pending' })
      .update({ state, decided_by: by.personId, decided_key: by.keyId }),
  );

/** Counts a poll of a request that is still pending; 0 when it is decided by now. */
export const countPoll = (tx: WriteTx, id: string): Promise<number> =>
  tx.change((db) => db('machine_requests').where({ id, state: 'pending' }).increment('polls', 1));

/** Uses an approved request up; 0 when another collection came first. */
export const setCollected = (tx: WriteTx, id: string): Promise<number> =>
  tx.change((db) => db('machine_requests').where({ id, state: 'approved' }).update({ state: 'collected' }));

/** Ends what a person approved and no machine has collected: it counts as expired. */
export const voidApproved = (tx: WriteTx, personId: string): Promise<number> =>
  tx.change((db) =>
    db('machine_requests')
      .where({ decided_by: personId, state: 'approved' })
      .where('expires_at', '>', tx.now)
      .update({ expires_at: tx.now }),
  );

/** Removes up to `limit` requests a day after their end. */
export const purgeRequests = (tx: WriteTx, limit: number): Promise<number> =>
  purgeRows(tx, { table: 'machine_requests', key: 'id', limit }, (all) =>
    all.where('expires_at', '<=', tx.now - KEPT_MS),
  );
