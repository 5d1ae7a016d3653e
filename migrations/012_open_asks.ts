/** Open questions are counted by themselves, and a reply is owed to each that was not answered: earlier builds had it otherwise. */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.schema.raw('CREATE INDEX asks_open_to ON asks (to_id) WHERE answer_seq IS NULL');
  await db.schema.raw('CREATE INDEX asks_open_from ON asks (from_id) WHERE answer_seq IS NULL');
  const answered = db('asks').whereNotNull('answer_seq').select('to_id', 'seq');
  await db('message_members').where('awaits', 1).whereIn(['member_id', 'seq'], answered).update({ awaits: 0 });
  // Those that the one asked only commented on.
  const open = db('asks').whereNull('answer_seq').select('to_id', 'seq');
  await db('message_members').where('awaits', 0).whereIn(['member_id', 'seq'], open).update({ awaits: 1 });
}
