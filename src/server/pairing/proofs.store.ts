/** Endpoint credentials: a keyed digest of each proof, and what it is bound to. */
import type { Knex } from 'knex';
import type { PairingSide } from '../../contract/types.ts';
import { idsOf } from '../db/query.ts';
import { insertInto, rowBy } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { ProofRow } from './proofs.rules.ts';

export const proofByVerifier = rowBy<ProofRow>('pairing_credentials', 'verifier');

export const insertProof = insertInto<ProofRow>('pairing_credentials');

/** Arms a proof that was not revoked until another time. */
export const rearm = (tx: WriteTx, id: string, expiresAt: number): Promise<number> =>
  tx.change((db) =>
    db('pairing_credentials').where('id', id).whereNull('revoked_at').update({ expires_at: expiresAt }),
  );

const revoke = (tx: WriteTx, narrow: (query: Knex.QueryBuilder) => Knex.QueryBuilder): Promise<number> =>
  tx.change((db) => narrow(db('pairing_credentials').whereNull('revoked_at')).update({ revoked_at: tx.now }));

/** Ends the proofs of a request, or of one side of it. */
export const revokeProofs = (tx: WriteTx, requestId: string, side?: PairingSide): Promise<number> =>
  revoke(tx, (query) => query.where({ request_id: requestId, ...(side === undefined ? {} : { side }) }));

/** Ends the proofs that depend on seats or keys that have ended. */
export const revokeProofsOf = (tx: WriteTx, column: 'agent_id' | 'key_id', ids: string[]): Promise<number> =>
  ids.length === 0 ? Promise.resolve(0) : revoke(tx, (query) => query.whereIn(column, ids));

/** Expired keys that working proofs depend on. */
export const endedProofKeys = (tx: ReadTx, limit: number): Promise<string[]> =>
  idsOf(tx, (db) =>
    db({ c: 'pairing_credentials' })
      .join({ k: 'access_keys' }, 'k.id', 'c.key_id')
      .whereNull('c.revoked_at')
      .where('k.expires_at', '<=', tx.now)
      .distinct({ id: 'k.id' })
      .orderBy('k.id')
      .limit(limit),
  );
