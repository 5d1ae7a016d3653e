/** What the tabs of a browser and the one place that holds its streams tell each other. */
import type { BoardFrame } from '../../client/board-stream.ts';
import type { HintFrame } from '../../client/hint-stream.ts';

/** Whether the page is live; `at`: when the next try begins, in milliseconds since the epoch. */
export type Link = { state: 'connecting' | 'live' } | { state: 'reconnecting' | 'offline'; at: number; since: number };

export type FromTab =
  /** A tab is here. `lock` is the name of a lock it holds as long as it lives; `person` who is signed in. */
  | { type: 'hello'; lock: string; person: string }
  /** The board the tab shows, null for another screen. */
  | { type: 'show'; board: string | null }
  /** Connect now instead of later. */
  | { type: 'retry' }
  | { type: 'bye' };

export type ToTab =
  | { type: 'link'; link: Link }
  | { type: 'hint'; frame: HintFrame }
  /** From now on the board's frames come, the first one with the number `head` + 1. */
  | { type: 'attached'; board: string; head: number }
  /** Too many boards are shown in this browser: the board follows its `head` hints. */
  | { type: 'detached'; board: string }
  | { type: 'frame'; board: string; frame: BoardFrame }
  /** A board is no longer accessible, with the API's code. */
  | { type: 'board_ended'; board: string; code: string }
  | { type: 'session_ended' };
