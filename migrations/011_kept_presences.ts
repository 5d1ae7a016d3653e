/** Agents that could not report, because no server ran, have time to do it again before they count as gone. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.alterTable('seat_reports', (t) => {
    // Until when somebody counts as there whose presence could not be repeated; null: it could be since the last report.
    t.bigInteger('kept_until');
  });
}
