/** The members that a reply names are kept once for all messages of its thread that name the same. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('messages', (t) => {
    // Number of the message of the same thread whose `named` is that of this one.
    t.bigInteger('named_seq');
  });
}
