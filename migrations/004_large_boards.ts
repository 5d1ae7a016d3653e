/** How statements are planned that read the messages and events of a board. */
import type { Knex } from 'knex';
import { planForLargeBoards } from '../src/server/db/schema.ts';

export async function up(db: Knex): Promise<void> {
  await planForLargeBoards(db, 'messages');
  await planForLargeBoards(db, 'events');
}
