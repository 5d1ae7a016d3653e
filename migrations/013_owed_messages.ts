/** A page of the messages to which a member owes a reply reads that page, not all that name the member. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.raw('CREATE INDEX message_members_owed ON message_members (member_id, seq) WHERE awaits = 1');
  await db.schema.raw('DROP INDEX message_members_awaiting');
}
