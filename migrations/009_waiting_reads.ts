/** How often a seat read, waiting, and acknowledged nothing: all server processes count it together, and a restart forgets none. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('members', (t) => {
    t.integer('reads').notNullable().defaultTo(0);
    // When the first of them was; null: there are none.
    t.bigInteger('reads_since');
  });
}
