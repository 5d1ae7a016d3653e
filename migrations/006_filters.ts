/** Filters of messages, and looks at requests and invites, read what they keep, not the whole board or server. */
import type { Knex } from 'knex';

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
}
