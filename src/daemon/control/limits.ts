/** Limits and timeouts of the control socket, in a file without imports, because hooks load it. */

/** The protocol's version, `v` in every frame. It changes only if old clients can no longer be served. */
export const PROTOCOL = 1;

/** Longest frame in both directions, in bytes without the line feed. */
export const MAX_FRAME_BYTES = 256 * 1024;
/** Open connections at a time. */
export const MAX_CONNECTIONS = 256;
/** Time within which the first frame must arrive. */
export const FIRST_FRAME_TIMEOUT_MS = 5_000;
/** Time after which a `hold` or `inbox` connection is closed. */
export const HOLD_TIMEOUT_MS = 660_000;
/** Longest time for which a runner may postpone agents' messages. */
export const MOST_PUT_OFF_MS = 86_400_000;
/** Failed attempts at a handoff, after which it is not tried again until its session or one of its seats changes. */
export const MAX_ATTEMPTS = 5;
/** Messages one `shown` may name. */
export const SHOWN_MESSAGES = 200;
/** Boards one `boards` may ask for. */
export const BOARDS_PAGE = 200;

/** Pairing requests in one answer: each has up to 4,000 characters, and together they must fit into a frame. */
export const PAIRINGS = 8;

/** Verbs with one answer, each with its timeout. */
export const ANSWER_TIMEOUT_MS = {
  register: 20_000,
  prompt: 2_000,
  turn_start: 3_000,
  boundary: 3_000,
  turn_end: 3_000,
  needs_person: 2_000,
  plan: 2_000,
  end: 2_000,
  bind: 2_000,
  unbind: 2_000,
  agents: 2_000,
  boards: 30_000,
  join: 30_000,
  create_board: 30_000,
  mode: 2_000,
  queued: 2_000,
  shown: 2_000,
  pairing: 30_000,
  approval_watch: 2_000,
  status: 2_000,
  shutdown: 2_000,
} as const;

export type RequestVerb = keyof typeof ANSWER_TIMEOUT_MS;
