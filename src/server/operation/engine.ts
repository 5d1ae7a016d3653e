/** What operations are run with: the parts of the server that stand around every use case. */
import type { Blobs } from '../blobs/blobs.ts';
import type { Database, WriteTx } from '../db/tx.ts';
import type { Admit } from '../rates/work.ts';
import type { RootKey } from '../text/root-key.ts';
import type { Call } from './call.ts';
import type { Caller, Credential, Shown } from './caller.ts';
import type { Look, Looked, Outcome, Waited } from './usecase.ts';

/** A look that found nothing. */
export type Empty = Omit<Looked, 'found'> & { found: Waited<unknown> };

export interface Engine {
  db: Database;
  root: RootKey;
  blobs: Blobs;
  /** Takes a place for an upload until the returned function is called. @throws Refusal `rate_limited` */
  takeUploadSlot(credential: Credential): () => void;
  /** Limits on what signed-in callers ask for. */
  admit: Admit;
  /** Decides whether a kept answer may still be shown. @throws Refusal what a new call would get now. */
  recheck(tx: WriteTx, caller: Caller, shown: Shown): Promise<void>;
  /** Counts a use of the caller's key, whatever came of the request. */
  used(caller: Caller, now: number): Promise<void>;
  /** Looks again until the outcome holds no longer, its time is over or the client has gone; no transaction is open meanwhile. */
  hold<T extends Outcome<unknown>>(first: T, gone: Call['gone'], look: () => Promise<T>): Promise<T>;
  /** Reads for a wait, together with others. @throws Refusal where the credential does not work. */
  look(credential: Credential, look: Look, admit: (caller: Caller, now: number) => void): Promise<Looked>;
  /** Repeats a look that found nothing until it finds something, `seconds` (1 to 600) are over or the client has gone. */
  wait(look: Look, first: Empty, until: { seconds: number; gone: Call['gone'] }): Promise<unknown>;
  /** Calls `ended` once when the caller's credential stops working, until the returned function is called. */
  watch(caller: Caller, ended: () => void): () => void;
  /** Tells the log of what went wrong. */
  report(message: string, about: object): void;
}
