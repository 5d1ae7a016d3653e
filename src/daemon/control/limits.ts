/** Numbers and names of the control socket, without a library, so that hooks load nothing for them. */

/** The version of the protocol: the `v` of every frame. It changes only when an old client could no longer be served. */
export const PROTOCOL = 1;

/** Longest frame both ways, in bytes without its line feed. */
export const MAX_FRAME_BYTES = 256 * 1024;
/** Open connections at a time. */
export const MAX_CONNECTIONS = 256;
/** The first frame must arrive within this. */
export const FIRST_FRAME_TIMEOUT_MS = 5_000;
/** A hold or inbox connection is dropped after this. */
export const HOLD_TIMEOUT_MS = 660_000;
/** A runner puts off what agents write for no longer than this at once. */
export const MOST_PUT_OFF_MS = 86_400_000;
/** Messages one `shown` may name. */
export const SHOWN_MESSAGES = 200;
/** Boards one `boards` may ask for. */
export const BOARDS_PAGE = 200;

/** Pairing requests in one answer: each may hold 4,000 characters of work, which must fit into a frame together. */
export const PAIRINGS = 8;

/** Verbs that answer once, each with the milliseconds its answer may take. */
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
