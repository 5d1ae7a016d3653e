/** Starts and ends browser sessions, each of which starts and ends here, and checks the login codes that start some. */
import { Refusal } from '../../contract/errors.ts';
import type { WriteTx } from '../db/tx.ts';
import { findKeyById, type KeyRow, type SessionRow } from '../keys/credentials.store.ts';
import { keyWorks } from '../operation/caller.ts';
import { newId, newSecret } from '../text/ids.ts';
import type { RootKey } from '../text/root-key.ts';
import { idsIn } from '../text/rows.ts';
import {
  dropLoginCodesOf,
  insertSession,
  liveLoginCode,
  liveSessions,
  lockSessions,
  setSessionsEnded,
} from './sessions.store.ts';

/** A session lasts this long, or as long as its key's fixed end lets it. Milliseconds. */
const LASTS_MS = 2_592_000_000;
const MAX_SESSIONS = 100;

/** From here on no other transaction starts a session of this person: the cap holds however many sign in at once. */
export const oneAtATime = (tx: WriteTx, personId: string): Promise<void> => tx.serialise(`sessions of ${personId}`);

/**
 * Starts a session of a working key, in a transaction that `oneAtATime` has let through; above the cap the oldest ends.
 * @returns the row, and the secret that is shown to the browser only.
 */
export async function startSession(
  tx: WriteTx,
  root: RootKey,
  key: KeyRow,
  startedWith: SessionRow['session_started_with'],
): Promise<{ session: SessionRow; secret: string }> {
  const live = await liveSessions(tx, { personId: key.person_id });
  await endSessions(tx, idsIn(live.slice(MAX_SESSIONS - 1)));
  const secret = newSecret('session');
  // The end of an idle key moves with every use, the session's among them.
  const keyEnds = key.key_idle_seconds === null ? key.key_expires_at : null;
  const session: SessionRow = {
    ...key,
    session_id: newId('ses', tx.now),
    session_started_with: startedWith,
    session_created_at: tx.now,
    session_expires_at: Math.min(tx.now + LASTS_MS, keyEnds ?? Number.POSITIVE_INFINITY),
    session_ended_at: null,
  };
  await insertSession(tx, {
    id: session.session_id,
    person_id: key.person_id,
    key_id: key.key_id,
    digest: root.digest(secret),
    started_with: startedWith,
    created_at: tx.now,
    expires_at: session.session_expires_at,
  });
  return { session, secret };
}

/** Ends sessions, with their streams and waits; answers the ids of those that had not ended. */
export async function endSessions(tx: WriteTx, ids: string[]): Promise<string[]> {
  const open = ids.length === 0 ? [] : await lockSessions(tx, ids);
  if (open.length === 0) return [];
  await setSessionsEnded(tx, open);
  for (const id of open) tx.publish(`credential:${id}`);
  return open;
}

/** Ends every live session of a person; answers how many. */
export async function endSessionsOf(tx: WriteTx, personId: string): Promise<number> {
  return (await endSessions(tx, idsIn(await liveSessions(tx, { personId })))).length;
}

/** Ends what a person's browsers have and what could start more of it; answers how many sessions. */
export async function endBrowsersOf(tx: WriteTx, personId: string): Promise<number> {
  await dropLoginCodesOf(tx, personId);
  return endSessionsOf(tx, personId);
}

/**
 * The working key a login code stands for. One answer for every code that does not work.
 * @param hold until the end of the transaction nobody else uses the code up.
 * @throws Refusal `login_code_invalid`.
 */
export async function keyOfCode(tx: WriteTx, root: RootKey, code: string, hold: boolean) {
  const digest = root.digest(code);
  const seen = await liveLoginCode(tx, digest, false);
  const key = seen && (await findKeyById(tx, seen.key_id));
  // Held after the person, as by who removes them.
  const row = hold ? await liveLoginCode(tx, digest, true) : seen;
  if (row && key && keyWorks(key, tx.now)) return { row, key };
  throw new Refusal('login_code_invalid', 'This login code does not work.', {
    hint: 'A code works once, for a minute. service open makes another.',
  });
}
