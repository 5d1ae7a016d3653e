/** Lists and limits of the API that are also used apart from its schemas, which take long to load. */

/** Most bytes a file may have; one more is 413 `file_too_large`. */
export const MAX_FILE = 52_428_800;

/** What a search can find. */
export const searchKinds = ['message', 'task', 'file'] as const;

/** The text of a withdrawn question's message where no reason is given. */
export const withdrawnText = 'Withdrawn.';

/** The role of an agent that nobody gave one; every board has it. */
export const usualRole = 'member';

/** Of every board but a deleted one. Queries ask for these by name: Postgres takes `<> 'deleted'` for true of no board at all. */
export const lifecycles = ['active', 'archived'] as const;

/** The frames of a stream of hints about everything that a person can see. */
export const hintFrameNames = [
  'head',
  'unread',
  'ready',
  'presence',
  'read',
  'delivery',
  'approval',
  'pairing',
  'notice',
  'allowance',
  'boards',
  'board_unavailable',
  'end',
] as const;

/** The times in which the budget of an agent may count, in seconds, and at most so many of them for its wakes. */
export const budgetTimes = { least: 60, most: 2_592_000, wakes: 2 } as const;

/** What a role of a board may let its agents do. */
export const permissions = [
  'post',
  'broadcast',
  'urgent',
  'create_tasks',
  'claim_tasks',
  'write_notes',
  'upload_files',
  'invite',
  'edit_charter',
  'add_people',
] as const;

/** The reactions there are, in the order they are shown, with the exact code points that are hashed. */
export const emojis = {
  thumbsup: '\u{1F44D}',
  check: '\u{2705}',
  eyes: '\u{1F440}',
  heart: '\u{2764}\u{FE0F}',
  tada: '\u{1F389}',
  question: '\u{2753}',
} as const;

export type ReactionName = keyof typeof emojis;
