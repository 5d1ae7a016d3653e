/** Kept answers in the order of their keys: a key that begins with its time is written beside the one before it. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.raw('UPDATE idempotency SET slot = substr(key, 1, 14) || slot');
}
