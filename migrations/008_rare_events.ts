/** Events of a type that is rare are found without reading the whole record. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.raw("CREATE INDEX events_by_type ON events (board_id, type, seq) WHERE type <> 'message.posted'");
}
