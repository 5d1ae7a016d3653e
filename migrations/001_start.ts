/** People, keys, boards, members, the record and its read models. */
import type { Knex } from 'knex';
import {
  appendOnly,
  createChunks,
  createCounter,
  createWordIndex,
  insertionOrder,
  uniqueIndex,
} from '../src/server/db/schema.ts';

/** Times are milliseconds since the epoch; flags are 0 or 1; digests and hashes are 32 bytes. */
export async function up(db: Knex): Promise<void> {
  await db.schema.createTable('meta', (t) => {
    t.text('name').primary();
    t.text('value').notNullable();
  });

  await db.schema.createTable('people', (t) => {
    t.text('id').primary();
    t.text('handle').notNullable();
    t.text('display_name');
    t.text('server_role').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('removed_at');
    t.text('removed_by');
    // Whose messages may reach this person's agents in the middle of a turn; null: never set.
    t.text('midturn_policy');
  });
  await uniqueIndex(db, 'people', ['handle'], 'removed_at IS NULL');

  // Handles that were ever somebody's: for good, so that nobody can pose as a renamed or removed person.
  await db.schema.createTable('handle_reservations', (t) => {
    t.text('handle').primary();
    t.text('person_id').notNullable();
  });

  await db.schema.createTable('access_keys', (t) => {
    t.text('id').primary();
    t.text('person_id').notNullable().index();
    t.text('name').notNullable();
    t.binary('digest').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at');
    t.bigInteger('idle_seconds');
    t.bigInteger('revoked_at');
    t.bigInteger('last_used_at');
    t.text('origin').notNullable();
    t.text('parent_key_id');
  });
  await uniqueIndex(db, 'access_keys', ['digest']);

  await db.schema.createTable('browser_sessions', (t) => {
    t.text('id').primary();
    t.text('person_id').notNullable().index();
    t.text('key_id').notNullable().index();
    t.binary('digest').notNullable();
    t.text('started_with').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    t.bigInteger('ended_at');
  });
  await uniqueIndex(db, 'browser_sessions', ['digest']);

  await db.schema.createTable('login_codes', (t) => {
    t.binary('digest').primary();
    t.text('person_id').notNullable().index();
    t.text('key_id').notNullable().index();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
  });

  await db.schema.createTable('delegations', (t) => {
    t.text('id').primary();
    t.text('key_id').notNullable().index();
    t.text('person_id').notNullable().index();
    t.text('name').notNullable();
    t.binary('digest').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('ended_at');
    t.text('ended_by');
  });
  await uniqueIndex(db, 'delegations', ['digest']);
  await uniqueIndex(db, 'delegations', ['key_id', 'name'], 'ended_at IS NULL');

  await db.schema.createTable('server_invites', (t) => {
    t.text('id').primary();
    t.binary('digest').notNullable();
    t.text('created_by').notNullable().index();
    // The agent that asked for it, where its person allowed it to.
    t.text('issuing_agent_id');
    t.text('parent_key_id').notNullable().index();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    // JSON: board ids; {initiating_agent_id, work}.
    t.text('boards').notNullable();
    t.text('pairing');
    t.text('suggested_handle');
    t.bigInteger('revoked_at');
    t.bigInteger('used_at');
    t.text('used_by');
    // JSON: by which approval or allowance an agent's invite was issued.
    t.text('authorization');
  });
  await uniqueIndex(db, 'server_invites', ['digest']);

  await db.schema.createTable('onboarding_receipts', (t) => {
    t.text('key_id').primary();
    t.text('person_id').notNullable();
    t.text('invite_id').notNullable();
    t.text('handle').notNullable();
    t.text('boards').notNullable();
    t.text('pairing_request_id');
  });

  await db.schema.createTable('machine_requests', (t) => {
    t.text('id').primary();
    t.binary('code_digest').notNullable();
    t.binary('secret_digest').notNullable();
    t.text('handle').notNullable();
    t.text('label').notNullable();
    t.text('requested_from').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    t.text('state').notNullable();
    t.text('decided_by');
    t.text('decided_key');
    t.integer('polls').notNullable();
  });
  await uniqueIndex(db, 'machine_requests', ['secret_digest']);
  await uniqueIndex(db, 'machine_requests', ['code_digest'], "state IN ('pending', 'approved')");

  // What an agent asked its person for: the exact action, and what became of it. Nothing secret.
  await db.schema.createTable('approvals', (t) => {
    t.text('id').primary();
    t.text('person_id').notNullable();
    t.text('agent_id').notNullable();
    t.text('parent_key_id').notNullable().index();
    t.text('kind').notNullable();
    // Canonical JSON, whose hash is what the person approves.
    t.text('action').notNullable();
    t.text('payload_hash').notNullable();
    t.text('state').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    t.bigInteger('decided_at');
    t.text('decision');
    t.text('closed_reason');
    t.bigInteger('executed_at');
    t.text('effect');
    t.text('authorization');
    t.text('invite_id');
    // Keyed hash of the Idempotency-Key it was asked with, for 24 hours.
    t.binary('request_key_hash');
    t.index(['person_id', 'state', 'created_at'], 'approvals_by_person');
    t.index(['agent_id', 'state'], 'approvals_by_agent');
  });
  await uniqueIndex(db, 'approvals', ['agent_id', 'request_key_hash'], 'request_key_hash IS NOT NULL');

  // The secret of an invite for the agent that asked for it: sealed, to be collected once.
  await db.schema.createTable('approval_outcomes', (t) => {
    t.text('approval_id').primary();
    t.text('invite_id').notNullable();
    t.integer('version').notNullable();
    t.binary('nonce');
    t.binary('ciphertext');
    t.binary('tag');
    t.bigInteger('expires_at').notNullable();
    t.bigInteger('consumed_at');
    t.bigInteger('until');
    t.binary('winning_key_hash');
    t.bigInteger('cleared_at');
    t.text('clear_reason');
  });
  await uniqueIndex(db, 'approval_outcomes', ['invite_id']);
  await db.schema.raw(
    'CREATE INDEX approval_outcomes_held ON approval_outcomes (expires_at) WHERE ciphertext IS NOT NULL',
  );

  // What a person's agents may do without asking: JSON of category names, sorted.
  await db.schema.createTable('allowances', (t) => {
    t.text('id').primary();
    t.text('person_id').notNullable();
    t.integer('revision').notNullable();
    t.text('categories').notNullable();
  });
  await uniqueIndex(db, 'allowances', ['person_id']);

  await db.schema.createTable('allowance_revisions', (t) => {
    t.text('allowance_id').notNullable();
    t.integer('revision').notNullable();
    t.text('categories').notNullable();
    t.bigInteger('changed_at').notNullable();
    t.text('changed_with').notNullable();
    t.text('key_id');
    t.text('session_id');
    t.text('approval_id');
    t.primary(['allowance_id', 'revision']);
  });
  await appendOnly(db, 'allowance_revisions');

  // What the server has to tell an agent outside of any board's record.
  await db.schema.createTable('notices', (t) => {
    t.text('id').primary();
    t.text('member_id').notNullable();
    t.text('kind').notNullable();
    t.text('subject').notNullable();
    t.integer('generation').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    t.text('text').notNullable();
    // JSON: ids and the person it names.
    t.text('about').notNullable();
    t.bigInteger('delivered_at');
    t.index(['member_id', 'delivered_at'], 'notices_of_member');
  });
  await uniqueIndex(db, 'notices', ['member_id', 'kind', 'subject', 'generation']);

  // Work that two people's agents are to do together, with the session that each side has selected for it. Its state is worked
  // out of these columns and of the seats, keys and people they name; only an end is written down.
  await db.schema.createTable('pairing_requests', (t) => {
    t.text('id').primary();
    t.text('board_id').notNullable().index();
    t.text('inviter_id').notNullable();
    t.text('initiating_agent_id').notNullable().index();
    t.text('recipient_id');
    t.text('invite_id');
    t.text('work').notNullable();
    t.integer('generation').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    // Each side's endpoint: the seat, the key behind it, and the opaque hash of the session.
    t.text('initiator_agent_id');
    t.text('initiator_key_id');
    t.text('initiator_binding');
    t.text('recipient_agent_id');
    t.text('recipient_key_id');
    t.text('recipient_binding');
    t.integer('accepted').notNullable();
    // What a ping of this generation must hold, by who pings, and the number it must come after.
    t.text('nonce_i2r');
    t.text('nonce_r2i');
    t.bigInteger('after_seq');
    // JSON: the round trip that each pinging side has reported.
    t.text('evidence_i2r');
    t.text('evidence_r2i');
    t.text('chosen_agent_id');
    t.text('choice_message_id');
    t.text('admission_approval_id').index();
    t.text('closed');
    t.text('closed_reason');
    t.bigInteger('closed_at');
    t.index(['inviter_id', 'created_at'], 'pairing_requests_by_inviter');
    t.index(['recipient_id', 'created_at'], 'pairing_requests_by_recipient');
  });
  await uniqueIndex(db, 'pairing_requests', ['invite_id'], 'invite_id IS NOT NULL');
  await db.schema.raw('CREATE INDEX pairing_requests_open ON pairing_requests (expires_at) WHERE closed IS NULL');

  // The proofs that runtimes have made for selected endpoints: a keyed digest of each, and what it is bound to.
  await db.schema.createTable('pairing_credentials', (t) => {
    t.text('id').primary();
    t.text('request_id').notNullable();
    t.text('side').notNullable();
    t.text('agent_id').notNullable().index();
    t.text('key_id').notNullable().index();
    t.text('binding').notNullable();
    t.integer('generation').notNullable();
    t.binary('verifier').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    t.bigInteger('revoked_at');
  });
  await uniqueIndex(db, 'pairing_credentials', ['verifier']);
  await uniqueIndex(db, 'pairing_credentials', ['request_id', 'side'], 'revoked_at IS NULL');

  // Pings and replies that the server has seen being posted, as they had to be.
  await db.schema.createTable('pairing_marks', (t) => {
    t.text('request_id').notNullable();
    t.integer('generation').notNullable();
    t.text('direction').notNullable();
    t.text('kind').notNullable();
    t.bigInteger('seq').notNullable();
    // Of a reply: the ping it answers.
    t.bigInteger('ping_seq');
    t.primary(['request_id', 'generation', 'direction', 'kind', 'seq']);
  });

  // What the operator may want to know later; nothing secret, and no operation reads it.
  await db.schema.createTable('server_audit', (t) => {
    t.text('id').primary();
    t.bigInteger('at').notNullable();
    t.text('action').notNullable();
    t.text('actor_person_id');
    t.text('actor_key_id');
    t.text('target_id');
    t.text('request_id');
    t.text('details_json').notNullable();
  });

  await db.schema.createTable('boards', (t) => {
    t.text('id').primary();
    t.text('name').notNullable();
    t.text('title');
    t.text('visibility').notNullable();
    t.text('lifecycle').notNullable();
    t.text('template');
    t.text('charter').notNullable();
    t.text('roles').notNullable();
    t.text('policy').notNullable();
    t.integer('agents_add_people').notNullable();
    t.text('task_prefix');
    t.bigInteger('created_at').notNullable();
    t.text('creator_person_id').notNullable();
    t.text('creator_member_id').notNullable();
    // The head of the record.
    t.bigInteger('head_seq').notNullable();
    t.binary('head_hash').notNullable();
    t.bigInteger('head_at').notNullable();
    // Running counts, so that unread counts never have to count rows.
    t.bigInteger('message_count').notNullable();
    t.bigInteger('everyone_count').notNullable();
    t.bigInteger('done_count').notNullable();
    t.bigInteger('answer_count').notNullable();
    t.bigInteger('last_message_at');
    t.integer('show_owner').notNullable();
  });
  await uniqueIndex(db, 'boards', ['name']);

  // For good, deleted boards included: a reference names one task of the server.
  await db.schema.createTable('task_prefixes', (t) => {
    t.text('prefix').primary();
    t.text('board_id').notNullable().index();
    t.bigInteger('reserved_at').notNullable();
  });

  await db.schema.createTable('members', (t) => {
    t.text('id').primary();
    t.text('board_id').notNullable();
    t.text('name').notNullable();
    t.text('kind').notNullable();
    // The person themselves, or the agent's person.
    t.text('person_id').notNullable();
    t.text('role');
    t.text('harness');
    t.text('access');
    t.text('status').notNullable();
    t.bigInteger('first_joined_at').notNullable();
    t.bigInteger('joined_at').notNullable();
    t.bigInteger('removed_at');
    t.text('removed_by');
    t.binary('token_digest');
    t.text('key_id');
    t.binary('session_digest');
    t.text('delivery_mode');
    t.bigInteger('delivery_revision').notNullable().defaultTo(0);
    // The task an agent is on: of its latest start or join.
    t.text('current_task_id').index();
    // An agent's own exception from its person's mid-turn policy.
    t.text('midturn_policy');
    // What this member sent: all messages, and those to everyone.
    t.bigInteger('sent_count').notNullable().defaultTo(0);
    t.bigInteger('sent_everyone_count').notNullable().defaultTo(0);
    // The read position, and the running counts of board and member at that position.
    t.bigInteger('read_up_to').notNullable();
    t.bigInteger('read_count').notNullable();
    t.bigInteger('read_everyone_count').notNullable();
    t.bigInteger('read_sent_count').notNullable();
    t.bigInteger('read_sent_everyone_count').notNullable();
  });
  await uniqueIndex(db, 'members', ['board_id', 'name']);
  await uniqueIndex(db, 'members', ['token_digest'], 'token_digest IS NOT NULL');
  await uniqueIndex(db, 'members', ['board_id', 'person_id'], "kind = 'human'");
  await db.schema.alterTable('members', (t) => {
    t.index(['person_id', 'kind', 'status'], 'members_by_person');
  });

  // What a seat's daemon reports of it. Apart from the member row, which every post of the seat writes.
  await db.schema.createTable('seat_reports', (t) => {
    t.text('member_id').primary();
    t.text('presence');
    t.bigInteger('presence_since');
    t.bigInteger('reported_at');
    t.text('delivery');
    t.text('location_harness');
    t.text('location_session');
    t.text('location_folder');
    t.text('location_machine');
    t.bigInteger('located_at');
    // Grows with every change that others hear of.
    t.bigInteger('revision').notNullable();
  });

  // What a seat's daemon says waits in the queue of the agent's own program, and who may say so. Never a receipt.
  await db.schema.createTable('seat_queues', (t) => {
    t.text('member_id').primary();
    t.bigInteger('epoch').notNullable();
    t.bigInteger('revision').notNullable();
    t.text('session').notNullable();
    t.text('boot').notNullable();
    // A list of {message_id, seq}.
    t.text('messages').notNullable();
    t.bigInteger('expires_at').notNullable();
  });

  // Messages posted while a member was away: after their former position, up to the number they came back at.
  await db.schema.createTable('member_gaps', (t) => {
    t.text('member_id').notNullable();
    t.bigInteger('after_seq').notNullable();
    t.bigInteger('up_to_seq').notNullable();
    t.primary(['member_id', 'up_to_seq']);
  });

  await db.schema.createTable('join_codes', (t) => {
    t.text('id').primary();
    t.text('board_id').notNullable().index();
    t.binary('digest').notNullable();
    t.text('kind').notNullable();
    t.text('role').notNullable();
    t.text('guest_handle');
    t.text('guest_person_id');
    t.text('maker_member_id').notNullable().index();
    t.text('maker_person_id').notNullable();
    t.bigInteger('created_at').notNullable();
    t.bigInteger('expires_at').notNullable();
    t.bigInteger('revoked_at');
    t.bigInteger('used_at');
    // The guest's key and seat that a code made, for the repeat of a lost answer.
    t.text('used_key_id');
    t.text('used_member_id');
    t.bigInteger('uses').notNullable();
    t.bigInteger('last_used_at');
  });
  await uniqueIndex(db, 'join_codes', ['digest']);

  await db.schema.createTable('events', (t) => {
    t.text('board_id').notNullable();
    t.bigInteger('seq').notNullable();
    t.text('id').notNullable();
    t.text('type').notNullable();
    t.bigInteger('at').notNullable();
    // Canonical JSON, as hashed.
    t.text('actor').notNullable();
    t.text('data').notNullable();
    t.binary('data_hash').notNullable();
    t.binary('prev_hash').notNullable();
    t.binary('hash').notNullable();
  });
  await uniqueIndex(db, 'events', ['board_id', 'seq']);
  await appendOnly(db, 'events');

  await db.schema.createTable('messages', (t) => {
    t.text('id').primary();
    t.text('board_id').notNullable();
    t.bigInteger('seq').notNullable();
    t.bigInteger('at').notNullable();
    t.text('sender_id').notNullable();
    t.bigInteger('reply_to_seq');
    t.bigInteger('root_seq');
    t.integer('to_everyone').notNullable();
    // Ids of the members that `@name` targets meant, in order: the default of a later reply goes to them too.
    t.text('named');
    t.integer('urgent').notNullable();
    t.integer('expects_reply').notNullable();
    // The ask that this message answers or takes back.
    t.text('answer_to');
    t.integer('answers').notNullable();
    // Only on thread starters: replies of any depth.
    t.bigInteger('reply_count').notNullable();
    t.bigInteger('last_reply_at');
    t.bigInteger('last_reply_seq');
    // Standing reactions: tells readers of a page whether any have to be looked up.
    t.integer('reaction_count').notNullable();
    // Running counts up to and including this message: on the board, to everyone, by this sender, both.
    t.bigInteger('nth').notNullable();
    t.bigInteger('nth_everyone').notNullable();
    t.bigInteger('nth_of_sender').notNullable();
    t.bigInteger('nth_everyone_of_sender').notNullable();
  });
  await uniqueIndex(db, 'messages', ['board_id', 'seq']);
  await uniqueIndex(db, 'messages', ['sender_id', 'seq']);
  await db.schema.raw(
    'CREATE INDEX messages_by_thread ON messages (board_id, root_seq, seq) WHERE root_seq IS NOT NULL',
  );
  await db.schema.raw(
    'CREATE INDEX messages_by_parent ON messages (board_id, reply_to_seq, seq) WHERE reply_to_seq IS NOT NULL',
  );
  await db.schema.raw(
    'CREATE INDEX messages_by_last_reply ON messages (board_id, last_reply_seq) WHERE last_reply_seq IS NOT NULL',
  );
  await db.schema.raw('CREATE INDEX messages_to_everyone ON messages (board_id, seq) WHERE to_everyone = 1');
  await db.schema.raw('CREATE INDEX messages_urgent ON messages (board_id, seq) WHERE urgent = 1');

  // Where each day with messages begins on a board: for counts of days without counting messages.
  await db.schema.createTable('message_days', (t) => {
    t.text('board_id').notNullable();
    t.bigInteger('day').notNullable();
    t.bigInteger('before').notNullable();
    t.primary(['board_id', 'day']);
  });

  // Whom a message names: recorded recipients and mentions. A message to everyone has rows for its mentions only.
  await db.schema.createTable('message_members', (t) => {
    t.text('member_id').notNullable();
    t.bigInteger('seq').notNullable();
    t.integer('addressed').notNullable();
    t.integer('mentioned').notNullable();
    // In the member's inbox on its own account, not because it went to everyone.
    t.integer('wakes').notNullable();
    t.integer('urgent').notNullable();
    // A reply is expected of this member and has not come.
    t.integer('awaits').notNullable();
    t.primary(['member_id', 'seq']);
  });
  await db.schema.raw('CREATE INDEX message_members_awaiting ON message_members (member_id) WHERE awaits = 1');

  await db.schema.createTable('reactions', (t) => {
    t.text('message_id').notNullable();
    t.text('member_id').notNullable();
    t.text('name').notNullable();
    t.bigInteger('seq').notNullable();
    t.bigInteger('at').notNullable();
    t.primary(['message_id', 'member_id', 'name']);
  });

  await db.schema.createTable('tasks', (t) => {
    t.text('id').primary();
    t.text('board_id').notNullable();
    t.bigInteger('number').notNullable();
    t.text('ref').notNullable();
    t.text('title').notNullable();
    t.text('state').notNullable();
    t.text('owner_id').index();
    t.text('opened_by').notNullable();
    t.bigInteger('opened_at').notNullable();
    t.bigInteger('updated_at').notNullable();
    t.bigInteger('closed_at');
    t.text('closed_note');
    t.integer('about_version').notNullable();
    t.integer('stands_version').notNullable();
    t.index(['board_id', 'state', 'number'], 'tasks_by_state');
  });
  await uniqueIndex(db, 'tasks', ['board_id', 'number']);
  await uniqueIndex(db, 'tasks', ['ref']);

  await db.schema.createTable('task_helpers', (t) => {
    t.text('task_id').notNullable();
    t.text('member_id').notNullable().index();
    t.bigInteger('seq').notNullable();
    t.primary(['task_id', 'member_id']);
  });

  await db.schema.createTable('task_texts', (t) => {
    t.text('task_id').notNullable();
    t.text('field').notNullable();
    t.integer('version').notNullable();
    t.text('text').notNullable();
    t.text('by_id').notNullable();
    t.bigInteger('at').notNullable();
    t.bigInteger('seq').notNullable();
    t.primary(['task_id', 'field', 'version']);
  });

  // What a message is about, as recorded when it was posted.
  await db.schema.createTable('message_tasks', (t) => {
    t.text('message_id').notNullable();
    t.text('task_id').notNullable();
    t.text('board_id').notNullable();
    t.bigInteger('seq').notNullable();
    t.bigInteger('thread_seq').notNullable();
    t.text('how').notNullable();
    t.integer('n').notNullable();
    t.primary(['message_id', 'task_id']);
    t.index(['task_id', 'seq'], 'message_tasks_by_task');
  });

  await db.schema.createTable('asks', (t) => {
    t.text('message_id').primary();
    t.text('board_id').notNullable();
    t.bigInteger('seq').notNullable();
    t.bigInteger('at').notNullable();
    t.text('from_id').notNullable();
    t.text('to_id').notNullable();
    t.text('task_id');
    t.integer('blocking').notNullable();
    t.bigInteger('going_at');
    // The latest answer or withdrawal.
    t.bigInteger('answer_seq');
    t.integer('answer_option');
    t.integer('withdrawn').notNullable();
    t.index(['to_id', 'at'], 'asks_to');
    t.index(['from_id', 'at'], 'asks_from');
    t.index(['board_id', 'at'], 'asks_on');
  });
  await db.schema.raw(
    'CREATE INDEX asks_blocking ON asks (task_id) WHERE blocking = 1 AND answer_seq IS NULL AND task_id IS NOT NULL',
  );

  await db.schema.createTable('agent_lines', (t) => {
    t.text('member_id').primary();
    t.text('kind').notNullable();
    t.text('text').notNullable();
    t.bigInteger('until');
    t.text('task_id').index();
    t.text('set_by').notNullable();
    t.text('source').notNullable();
    t.bigInteger('at').notNullable();
  });

  // Bytes that file versions name, each once however many name it. The bytes themselves lie in the blob store.
  await db.schema.createTable('blobs', (t) => {
    t.text('digest').primary();
    t.bigInteger('size').notNullable();
    t.bigInteger('touched_at').notNullable();
  });

  await createChunks(db, 'blob_chunks');

  await db.schema.createTable('files', (t) => {
    t.text('id').primary();
    t.text('board_id').notNullable();
    t.text('name').notNullable();
    t.integer('maintained').notNullable();
    // The board's brief, while it is live.
    t.integer('brief').notNullable();
    t.bigInteger('removed_at');
    t.integer('latest').notNullable();
    t.bigInteger('latest_at').notNullable();
    t.index(['board_id', 'removed_at', 'maintained', 'latest_at', 'id'], 'files_in_order');
  });
  await uniqueIndex(db, 'files', ['board_id', 'name'], 'removed_at IS NULL');
  await uniqueIndex(db, 'files', ['board_id'], 'brief = 1 AND removed_at IS NULL');

  await db.schema.createTable('file_versions', (t) => {
    t.text('file_id').notNullable();
    t.integer('version').notNullable();
    t.text('digest').notNullable().references('digest').inTable('blobs');
    t.bigInteger('size').notNullable();
    t.text('media_type').notNullable();
    t.text('by_id').notNullable().index();
    t.bigInteger('at').notNullable();
    t.bigInteger('seq').notNullable();
    t.integer('base').notNullable();
    // Running counts of the board when it was written: messages, tasks done, answers.
    t.bigInteger('nth_message').notNullable();
    t.bigInteger('nth_done').notNullable();
    t.bigInteger('nth_answer').notNullable();
    t.primary(['file_id', 'version']);
    t.index(['digest'], 'file_versions_by_digest');
  });

  await db.schema.createTable('file_tasks', (t) => {
    t.text('file_id').notNullable();
    t.text('task_id').notNullable().index();
    t.integer('n').notNullable();
    t.primary(['file_id', 'task_id']);
  });

  await db.schema.createTable('file_approvals', (t) => {
    t.text('file_id').notNullable();
    t.text('person_id').notNullable();
    t.text('member_id').notNullable();
    t.integer('version').notNullable();
    t.text('digest').notNullable();
    t.bigInteger('at').notNullable();
    t.bigInteger('seq').notNullable();
    t.primary(['file_id', 'person_id']);
  });

  await db.schema.createTable('message_files', (t) => {
    t.text('message_id').notNullable();
    t.integer('n').notNullable();
    t.text('file_id').notNullable();
    t.integer('version').notNullable();
    t.bigInteger('seq').notNullable();
    t.primary(['message_id', 'n']);
    t.index(['file_id', 'seq'], 'message_files_by_file');
  });

  await db.schema.createTable('idempotency', (t) => {
    // Rows end in the order in which they were made, so that the purge needs no index of its own.
    insertionOrder(db, t, 'id');
    t.text('slot').notNullable();
    t.binary('scope').notNullable();
    t.text('key').notNullable();
    t.binary('request_hash').notNullable();
    t.text('operation').notNullable();
    t.text('class').notNullable();
    t.integer('status').notNullable();
    t.binary('body').notNullable();
    t.text('recheck').notNullable();
    t.bigInteger('expires_at').notNullable();
  });
  await uniqueIndex(db, 'idempotency', ['slot']);

  // What full-text search finds. Derived from the record and the tables above; can be emptied and filled again.
  await db.schema.createTable('search_docs', (t) => {
    t.bigInteger('id').primary();
    t.text('kind').notNullable();
    t.text('board_id').notNullable();
    t.text('ref_id').notNullable();
    t.bigInteger('at').notNullable();
  });
  await uniqueIndex(db, 'search_docs', ['ref_id']);
  await createWordIndex(db, 'search_docs', 'search_words');

  // Texts of the latest versions of files, as far as they are searched. Null: not read yet.
  await db.schema.createTable('search_texts', (t) => {
    t.text('file_id').primary();
    t.text('digest').notNullable();
    t.text('text');
  });
  await db.schema.raw('CREATE INDEX search_texts_to_read ON search_texts (file_id) WHERE text IS NULL');

  await db.schema.createTable('search_progress', (t) => {
    t.text('board_id').primary();
    t.bigInteger('seq').notNullable();
  });

  // Attempts of the current minute, where several processes count them together. Nothing here outlives it.
  await db.schema.createTable('rate_counts', (t) => {
    t.text('bucket').notNullable();
    t.text('subject').notNullable();
    t.bigInteger('window_start').notNullable();
    t.integer('counted').notNullable();
    t.integer('held').notNullable();
    t.bigInteger('at').notNullable();
    t.primary(['bucket', 'subject']);
  });

  await createCounter(db, 'change_counter');
}
