/** What the operator of a server may look up in the database: who changed what about people, keys and settings. No secrets. */
import type { WriteTx } from '../db/tx.ts';
import type { Caller } from '../operation/caller.ts';
import { newUlid } from '../text/ids.ts';

export interface AuditEntry {
  /** `person.role_changed`, `key.created` …: the thing and what happened to it. */
  action: string;
  /** Null: the server itself, or somebody who has no account yet. */
  by: Pick<Caller, 'person' | 'key'> | null;
  /** Id of what was changed. */
  target: string | null;
  requestId: string | null;
  details?: Record<string, unknown>;
}

/** Adds a row in the transaction that makes the change. */
export const audit = (tx: WriteTx, { action, by, target, requestId, details }: AuditEntry): Promise<number> =>
  tx.change((db) =>
    db('server_audit').insert({
      id: newUlid(tx.now),
      at: tx.now,
      action,
      actor_person_id: by?.person.person_id ?? null,
      actor_key_id: by?.key.key_id ?? null,
      target_id: target,
      request_id: requestId,
      details_json: JSON.stringify(details ?? {}),
    }),
  );
