/** The journal's tables, as forward migrations. They contain no message bodies and no secrets. */

export const migrations: readonly string[] = [
  `
CREATE TABLE servers (origin TEXT PRIMARY KEY, server_id TEXT NOT NULL, last_ok_at INTEGER) STRICT;
CREATE TABLE sessions (
  key TEXT PRIMARY KEY, harness TEXT NOT NULL, session_id TEXT NOT NULL, boot TEXT NOT NULL, source TEXT NOT NULL,
  open INTEGER NOT NULL, pid INTEGER, pid_start TEXT, cwd TEXT, config_dir TEXT, harness_version TEXT,
  turned INTEGER NOT NULL, turn_id INTEGER NOT NULL, opened_at INTEGER NOT NULL, closed_at INTEGER
) STRICT;
CREATE TABLE seats (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, board_id TEXT NOT NULL, board TEXT NOT NULL, name TEXT NOT NULL,
  cursor INTEGER NOT NULL, mode TEXT NOT NULL, mode_revision INTEGER NOT NULL, generation INTEGER NOT NULL,
  problem TEXT, problem_at INTEGER, PRIMARY KEY (origin, member_id)
) STRICT;
CREATE TABLE bindings (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, session_key TEXT NOT NULL, generation INTEGER NOT NULL,
  bound_at INTEGER NOT NULL, told_mode TEXT, PRIMARY KEY (origin, member_id)
) STRICT;
CREATE TABLE lost (
  session_key TEXT NOT NULL, origin TEXT NOT NULL, member_id TEXT NOT NULL, board_id TEXT NOT NULL,
  board TEXT NOT NULL, name TEXT NOT NULL, taken_by TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (session_key, origin, member_id)
) STRICT;
CREATE TABLE handoffs (
  id TEXT PRIMARY KEY, session_key TEXT NOT NULL, boot TEXT NOT NULL, path TEXT NOT NULL, class TEXT NOT NULL,
  payload_sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
  next_at INTEGER, reason TEXT, turn_id INTEGER NOT NULL, peers INTEGER NOT NULL,
  created_at INTEGER NOT NULL, handed_at INTEGER, accepted_at INTEGER, turn_at INTEGER, confirmed_at INTEGER,
  stalled_at INTEGER
) STRICT;
CREATE INDEX handoffs_by_session ON handoffs (session_key, state);
CREATE INDEX handoffs_by_age ON handoffs (created_at);
CREATE TABLE parts (
  handoff_id TEXT NOT NULL REFERENCES handoffs (id) ON DELETE CASCADE, origin TEXT NOT NULL, member_id TEXT NOT NULL,
  board_id TEXT NOT NULL, generation INTEGER NOT NULL, state TEXT NOT NULL,
  PRIMARY KEY (handoff_id, origin, member_id)
) STRICT;
CREATE INDEX parts_by_seat ON parts (origin, member_id, state);
CREATE TABLE part_messages (
  handoff_id TEXT NOT NULL REFERENCES handoffs (id) ON DELETE CASCADE, origin TEXT NOT NULL, member_id TEXT NOT NULL,
  message_id TEXT NOT NULL, seq INTEGER NOT NULL, form TEXT NOT NULL,
  PRIMARY KEY (handoff_id, origin, member_id, message_id)
) STRICT;
CREATE TABLE received (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, message_id TEXT NOT NULL, seq INTEGER NOT NULL, via TEXT NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY (origin, member_id, message_id)
) STRICT;
CREATE TABLE announced (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, session_key TEXT NOT NULL, boot TEXT NOT NULL,
  up_to_seq INTEGER NOT NULL, PRIMARY KEY (origin, member_id, session_key, boot)
) STRICT;
CREATE TABLE shown (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, generation INTEGER NOT NULL, boot TEXT NOT NULL,
  message_id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (origin, member_id, generation, boot, message_id)
) STRICT;
CREATE TABLE nudges (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, code TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (origin, member_id, code, key)
) STRICT;
CREATE TABLE notices_told (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, notice_id TEXT NOT NULL,
  handoff_id TEXT NOT NULL REFERENCES handoffs (id) ON DELETE CASCADE, at INTEGER NOT NULL,
  PRIMARY KEY (origin, member_id, notice_id, handoff_id)
) STRICT;
CREATE TABLE queue_fence (
  origin TEXT NOT NULL, member_id TEXT NOT NULL, session_key TEXT NOT NULL, boot TEXT NOT NULL,
  epoch INTEGER NOT NULL, revision INTEGER NOT NULL, PRIMARY KEY (origin, member_id)
) STRICT;
CREATE TABLE approval_watches (
  origin TEXT NOT NULL, approval_id TEXT NOT NULL, member_id TEXT NOT NULL, session_key TEXT NOT NULL,
  boot TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (origin, approval_id)
) STRICT;
CREATE TABLE pairing_endpoints (
  origin TEXT NOT NULL, request_id TEXT NOT NULL, side TEXT NOT NULL, member_id TEXT NOT NULL,
  binding_hash TEXT NOT NULL, generation INTEGER NOT NULL, ping_seq INTEGER, reply_seq INTEGER, handoff_id TEXT,
  state TEXT NOT NULL, PRIMARY KEY (origin, request_id, side)
) STRICT;
`,
  // Of earlier losses a session heard when it started, or by a command.
  'ALTER TABLE lost ADD COLUMN told INTEGER NOT NULL DEFAULT 1;',
  // The working folder of a session may change; its program finds the conversation by the first one.
  'ALTER TABLE sessions ADD COLUMN started_in TEXT;',
];
