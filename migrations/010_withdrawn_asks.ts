/** A question that was withdrawn is owed no reply: earlier builds left it open. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  const withdrawn = db('asks').where('withdrawn', 1).select('to_id', 'seq');
  await db('message_members').where('awaits', 1).whereIn(['member_id', 'seq'], withdrawn).update({ awaits: 0 });
}
