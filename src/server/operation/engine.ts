/** What operations are run with: the parts of the server that stand around every use case. */
import type { Blobs } from '../blobs/blobs.ts';
import type { Database } from '../db/tx.ts';
import type { Live } from '../live/live.ts';
import type { Admit, InTurn } from '../rates/work.ts';
import type { Caller } from './caller.ts';
import type { Deps } from './usecase.ts';

export interface Engine extends Deps {
  db: Database;
  live: Live;
  blobs: Blobs;
  /** Takes a place for an upload until the returned function is called. @throws Refusal `rate_limited` */
  takeUploadSlot(caller: Caller): () => void;
  /** Limits on what signed-in callers ask for. */
  admit: Admit;
  inTurn: InTurn;
  /** Counts a use of the caller's key, whatever came of the request. */
  used(caller: Caller, now: number): Promise<void>;
}
