/**
 * Every error code of the API, with what follows from it on both sides of the wire:
 * its HTTP status, whether an answer that carries it is kept for idempotent replay,
 * and whether a client may try again.
 */

interface ErrorRow {
  /** Usual HTTP status. `invalid_request` and `role_not_found` have two; the thrower may name the other one. */
  status: number;
  /** True when a repeat with the same Idempotency-Key gets this refusal again. */
  kept: boolean;
}

const row = (status: number, kept: boolean): ErrorRow => ({ status, kept });
const kept = (status: number) => row(status, true);
const gate = (status: number) => row(status, false);

export const errors = {
  invalid_request: gate(400),
  unauthorized: gate(401),
  access_key_invalid: gate(401),
  delegation_revoked: gate(401),
  forbidden: gate(403),
  human_token_required: gate(403),
  agent_token_required: gate(403),
  browser_session_required: gate(403),
  server_admin_required: gate(403),
  admin_required: gate(403),
  owner_required: gate(403),
  agent_owner_required: gate(403),
  board_creator_required: gate(403),
  board_creation_restricted: gate(403),
  not_on_board: gate(403),
  not_on_task: gate(403),
  not_asked: gate(403),
  guest_not_allowed: gate(403),
  add_people_not_allowed: gate(403),
  agent_session_required: gate(403),
  agent_removed: gate(403),
  join_code_not_yours: gate(403),
  guest_code_not_for_members: gate(403),
  broadcast_not_allowed: gate(403),
  urgent_not_allowed: gate(403),
  machine_request_refused: gate(403),
  origin_not_allowed: gate(403),
  csrf_token_invalid: gate(403),
  not_found: gate(404),
  board_not_found: gate(404),
  approval_not_found: gate(404),
  message_not_found: gate(404),
  pairing_not_found: gate(404),
  member_not_found: kept(404),
  agent_not_found: kept(404),
  person_not_found: kept(404),
  person_not_on_board: kept(404),
  task_not_found: kept(404),
  file_not_found: kept(404),
  version_not_found: kept(404),

  join_code_invalid: kept(404),
  join_code_not_found: kept(404),
  login_code_invalid: kept(404),
  invite_invalid: kept(404),
  invite_not_found: kept(404),
  machine_request_invalid: kept(404),
  key_not_found: kept(404),
  browser_session_not_found: kept(404),
  delegation_not_found: kept(404),
  request_timeout: gate(408),
  board_archived: gate(409),
  board_not_archived: kept(409),
  board_name_taken: kept(409),
  name_taken: kept(409),
  handle_taken: kept(409),
  key_name_taken: kept(409),
  already_on_board: kept(409),
  approval_closed: kept(409),
  no_change: kept(409),
  allowance_changed: kept(409),
  pairing_changed: kept(409),
  queue_report_conflict: kept(409),
  pairing_closed: kept(409),
  person_is_guest: kept(409),
  last_owner: kept(409),
  last_admin: kept(409),
  browser_session_switch_unconfirmed: kept(409),
  seat_token_replaced: kept(409),
  role_in_use: kept(409),
  task_taken: kept(409),
  task_closed: kept(409),
  stands_changed: kept(409),
  ask_closed: kept(409),
  thread_held: kept(409),
  task_prefix_taken: kept(409),
  file_exists: kept(409),
  file_changed: kept(409),
  file_name_taken: kept(409),
  brief_exists: kept(409),
  brief_path_reserved: kept(409),
  limit_reached: kept(409),
  idempotency_in_progress: gate(409),
  request_too_large: gate(413),
  message_too_large: gate(413),
  file_too_large: gate(413),
  unsupported_media_type: gate(415),
  range_not_satisfiable: gate(416),
  host_not_allowed: gate(421),
  idempotency_conflict: gate(422),
  handle_invalid: kept(422),
  role_not_found: kept(422),
  template_not_found: kept(422),
  task_prefix_invalid: kept(422),
  invalid_target: kept(422),
  unknown_recipient: kept(422),
  reply_has_no_recipients: kept(422),
  ack_out_of_range: kept(422),
  file_has_secret: kept(422),
  ask_invalid: kept(422),
  pairing_evidence_invalid: kept(422),
  line_until_past: kept(422),
  rate_limited: gate(429),
  internal: gate(500),
  unavailable: gate(503),
  storage_full: gate(507),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** A command that an agent can pass on when its person has to act. */
export interface NextStep {
  command: string;
  resume: string;
  board_view?: string;
}

/** The body of every error answer. */
export interface ErrorBody {
  error: { code: string; message: string; hint: string; next?: NextStep; details?: Record<string, unknown> };
}

interface RefusalOptions {
  hint?: string;
  details?: Record<string, unknown>;
  next?: NextStep;
  /** For the codes with two statuses; otherwise the table's. */
  status?: number;
  /** Seconds; becomes the `Retry-After` header. */
  retryAfter?: number;
  /** Further response headers, such as `Allow`. */
  headers?: Record<string, string>;
  /** For the log of who refuses; never sent. */
  cause?: unknown;
  /** What nobody has to look into: it is left out of that log. */
  expected?: boolean;
}

/** A refusal the contract names. Anything else that is thrown is a defect and becomes 500 `internal`. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly hint: string;
  readonly details: Record<string, unknown> | undefined;
  readonly next: NextStep | undefined;
  readonly retryAfter: number | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly expected: boolean;

  constructor(code: ErrorCode, message: string, options: RefusalOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Refusal';
    this.code = code;
    this.status = options.status ?? errors[code].status;
    this.hint = options.hint ?? '';
    this.details = options.details;
    this.next = options.next;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers;
    this.expected = options.expected ?? false;
  }

  /** Whether a repeat of the same keyed request is answered with this refusal again. A 422 of any code but the conflict is. */
  get kept(): boolean {
    if (this.code === 'invalid_request') return this.status === 422;
    return errors[this.code].kept;
  }

  body(): ErrorBody {
    return {
      error: {
        code: this.code,
        message: this.message,
        hint: this.hint,
        ...(this.next ? { next: this.next } : {}),
        ...(this.details ? { details: this.details } : {}),
      },
    };
  }
}
