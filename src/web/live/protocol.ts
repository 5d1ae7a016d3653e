/** Messages between the tabs and the hub that holds the streams. */
import type { BoardFrame } from '../../client/board-stream.ts';
import type { HintFrame } from '../../client/hint-stream.ts';

/** `at`: the next attempt to connect, in milliseconds since the epoch. */
export type Link = { state: 'connecting' | 'live' } | { state: 'reconnecting' | 'offline'; at: number };

export type FromTab =
  /** Registers a tab. `lock`: a lock that it holds until it closes; `person`: the id of the signed-in person. */
  | { type: 'hello'; lock: string; person: string }
  /** Selects the board that the tab shows; null for none. */
  | { type: 'show'; board: string | null }
  /** Ends the current retry delay. */
  | { type: 'retry' }
  | { type: 'bye' };

export type ToTab =
  | { type: 'link'; link: Link }
  | { type: 'hint'; frame: HintFrame }
  /** The board's frames follow, from event `head` + 1. */
  | { type: 'attached'; board: string; head: number }
  /** Too many boards are open: no more frames come, and the tab has to load events after `head` hints. */
  | { type: 'detached'; board: string }
  | { type: 'frame'; board: string; frame: BoardFrame }
  /** The stream of the board ended with an error: as after `detached`. */
  | { type: 'board_ended'; board: string; code: string }
  | { type: 'session_ended' };
