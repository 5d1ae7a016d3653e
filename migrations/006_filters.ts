/**
 * Filters of messages, and looks at requests and invites, read what they keep, not the whole board or server. A request may
 * have been asked for with several keys.
 */
import type { Knex } from 'knex';
import { uniqueIndex } from '../src/server/db/schema.ts';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('message_files', (t) => {
    t.text('board_id');
  });
  const board = db('messages').where('messages.id', db.ref('message_files.message_id')).select('board_id');
  await db('message_files').update({ board_id: board });
  // The first file that each message cites.
  await db.schema.raw('CREATE INDEX message_files_on ON message_files (board_id, n, seq)');
  await db.schema.raw('CREATE INDEX asks_in ON asks (board_id, seq)');
  await db.schema.raw('CREATE INDEX message_members_mentioned ON message_members (member_id, seq) WHERE mentioned = 1');
  await db.schema.raw("CREATE INDEX approvals_due ON approvals (expires_at) WHERE state = 'pending'");
  await db.schema.raw('CREATE INDEX server_invites_used ON server_invites (used_by) WHERE used_by IS NOT NULL');
  await db.schema.raw('CREATE INDEX messages_answering ON messages (board_id, seq) WHERE answer_to IS NOT NULL');
  // Keyed hashes of the Idempotency-Keys that approvals were asked for with, for 24 hours.
  await db.schema.createTable('approval_keys', (t) => {
    t.text('agent_id').notNullable();
    t.binary('key_hash').notNullable();
    t.text('approval_id').notNullable();
    t.bigInteger('asked_at').notNullable();
  });
  await uniqueIndex(db, 'approval_keys', ['agent_id', 'key_hash']);
  const known = db('approvals').whereNotNull('request_key_hash');
  await db('approval_keys').insert(known.select('agent_id', 'request_key_hash', 'id', 'created_at'));
  await db.schema.raw('DROP INDEX approvals__agent_id__request_key_hash');
  await db.schema.raw('ALTER TABLE approvals DROP COLUMN request_key_hash');
}
