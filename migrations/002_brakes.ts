/**
 * Brakes on agents: runs of their messages in a thread, how often these wake a seat, what they wait for and what they use,
 * and work that they left.
 */
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await runs(db);
  await budgets(db);
  await waitingAndUsage(db);
  await ownership(db);
  await claims(db);
}

/** What only a thread's first message uses has defaults: no other message writes it. */
async function runs(db: Knex): Promise<void> {
  await db.schema.alterTable('messages', (t) => {
    // On a thread's first message: how many messages in a row agents have posted in it. On a reply: the same when it was posted.
    t.integer('agent_run').notNullable().defaultTo(0);
    // 1: it wakes nobody, because the run was over its limit.
    t.integer('held').notNullable().defaultTo(0);
    // From here on, columns of a thread's first message. Up to which length people let the run go on; null: the policy says.
    t.integer('run_limit');
    // How many times in a row something other than a person's word started the count anew.
    t.integer('run_restarts').notNullable().defaultTo(0);
    // Since when messages of the run are held; null: none is.
    t.bigInteger('run_held_at');
    // 1: closed for agents until a person writes in it.
    t.integer('run_stopped').notNullable().defaultTo(0);
  });
  await db.schema.raw('CREATE INDEX messages_held_threads ON messages (board_id, seq) WHERE run_held_at IS NOT NULL');
  await db.schema.raw('CREATE INDEX messages_held ON messages (board_id, root_seq, seq) WHERE held = 1');
}

async function budgets(db: Knex): Promise<void> {
  await db.schema.alterTable('members', (t) => {
    // Until when agents' messages do not wake the seat, and why.
    t.bigInteger('braked_until');
    t.text('braked_reason');
    t.bigInteger('braked_at');
  });
  await db.schema.createTable('seat_budgets', (t) => {
    t.text('member_id').primary();
    // JSON of what the agent's person set; null: the usual.
    t.text('wakes');
    t.text('cost');
    // JSON of what is left.
    t.text('buckets').notNullable();
    // The same of the cost, in US dollars; null: nothing was taken of it yet.
    t.text('cost_bucket');
  });
}

/** What a session waits for its person with, and what running agents' programs used. */
async function waitingAndUsage(db: Knex): Promise<void> {
  await db.schema.alterTable('seat_reports', (t) => {
    // Of the presence `waiting` only: permission or question, the words as far as the program tells them, and where to answer.
    t.text('waiting_for');
    t.text('waiting_question');
    t.text('waiting_where');
  });

  // What a seat's program said that it used, by UTC day; null where it told nothing of it.
  await db.schema.createTable('seat_usage', (t) => {
    t.text('member_id').notNullable();
    // Milliseconds since the epoch at which the day began.
    t.bigInteger('day').notNullable();
    t.bigInteger('turns').notNullable();
    t.bigInteger('input_tokens');
    t.bigInteger('output_tokens');
    // Millionths of a US dollar.
    t.bigInteger('cost_micros');
    t.primary(['member_id', 'day']);
  });
}

/** Who has a task since when: what tells a present owner from a former one, and a task that its owner left. */
async function ownership(db: Knex): Promise<void> {
  await db.schema.alterTable('tasks', (t) => {
    // Number of the event by which the present owner got it; 0: before this was kept, or nobody owns it.
    t.bigInteger('owner_seq').notNullable().defaultTo(0);
    // When the owner or its person last changed the task.
    t.bigInteger('owner_at').notNullable().defaultTo(0);
  });
  await db('tasks')
    .where('state', 'in_progress')
    .update({ owner_at: db.ref('updated_at') });
}

/** Which files a line is about. */
async function claims(db: Knex): Promise<void> {
  await db.schema.alterTable('agent_lines', (t) => {
    t.text('repo');
    // JSON of the globs; null: none are named.
    t.text('paths');
  });
}
