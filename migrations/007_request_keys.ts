/** A request for an approval may have been asked for with several keys. */
import type { Knex } from 'knex';
import { uniqueIndex } from '../src/server/db/schema.ts';

export async function up(db: Knex): Promise<void> {
  // Keyed hashes of the Idempotency-Keys that approvals were asked for with, for 24 hours.
  await db.schema.createTable('approval_keys', (t) => {
    t.text('agent_id').notNullable();
    t.binary('key_hash').notNullable();
    t.text('approval_id').notNullable();
    t.bigInteger('asked_at').notNullable().index();
  });
  await uniqueIndex(db, 'approval_keys', ['agent_id', 'key_hash']);
  const known = db('approvals').whereNotNull('request_key_hash');
  await db('approval_keys').insert(known.select('agent_id', 'request_key_hash', 'id', 'created_at'));
  await db.schema.raw('DROP INDEX approvals__agent_id__request_key_hash');
  await db.schema.raw('ALTER TABLE approvals DROP COLUMN request_key_hash');
}
