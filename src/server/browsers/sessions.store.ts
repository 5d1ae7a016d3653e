/** Browser sessions and the login codes they are started with, as rows. */
import { heldRow, idsOf, purgeRows } from '../db/query.ts';
import { insertInto } from '../db/rows.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import { type Position, pageFrom } from '../text/page-token.ts';

/** A session without its secret. `key_name` is its key's. */
export interface SessionFacts {
  id: string;
  key_id: string;
  key_name: string;
  started_with: 'login_code' | 'access_key';
  created_at: number;
  expires_at: number;
}

type NewSession = Omit<SessionFacts, 'key_name'> & { person_id: string; digest: Buffer };

export const insertSession = insertInto<NewSession>('browser_sessions');

/** Which of a person's sessions: one, those of a key, or all of them. */
interface SessionScope {
  personId: string;
  id?: string;
  keyId?: string;
}

/** Where a list of sessions begins and how long it may get. */
interface SessionPage {
  after: Position | null;
  limit: number;
}

/** More than anybody has. */
const every: SessionPage = { after: null, limit: 10_000 };

/** A person's live sessions, newest first: not ended, not expired, and their key works. The person is taken to be there. */
export const liveSessions = (tx: ReadTx, scope: SessionScope, { after, limit } = every): Promise<SessionFacts[]> =>
  tx.query<SessionFacts>((db) => {
    const query = db({ s: 'browser_sessions' })
      .join({ k: 'access_keys' }, 'k.id', 's.key_id')
      .where('s.person_id', scope.personId)
      .whereNull('s.ended_at')
      .where('s.expires_at', '>', tx.now)
      .whereNull('k.revoked_at')
      .where((open) => open.whereNull('k.expires_at').orWhere('k.expires_at', '>', tx.now))
      .select({
        id: 's.id',
        key_id: 's.key_id',
        key_name: 'k.name',
        started_with: 's.started_with',
        created_at: 's.created_at',
        expires_at: 's.expires_at',
      });
    if (scope.id !== undefined) query.where('s.id', scope.id);
    if (scope.keyId !== undefined) query.where('s.key_id', scope.keyId);
    return pageFrom(query, 's', after, limit, 'desc');
  });

/** Holds sessions that have not ended, in one order for everybody; answers those that still have not. */
export const lockSessions = async (tx: WriteTx, ids: string[]): Promise<string[]> =>
  idsOf(tx, (db) =>
    db('browser_sessions').whereIn('id', ids).whereNull('ended_at').orderBy('id').forUpdate().select('id'),
  );

export const setSessionsEnded = (tx: WriteTx, ids: string[]): Promise<number> =>
  tx.change((db) => db('browser_sessions').whereIn('id', ids).update({ ended_at: tx.now }));

type LoginCodeRow = {
  digest: Buffer;
  person_id: string;
  key_id: string;
  created_at: number;
  expires_at: number;
};

export const insertLoginCode = insertInto<LoginCodeRow>('login_codes');

/** An unexpired login code. @param hold keeps others from using it up before this transaction ends. */
export const liveLoginCode = (tx: ReadTx, digest: Buffer, hold: boolean): Promise<LoginCodeRow | undefined> =>
  heldRow(tx, (db) => db('login_codes').where({ digest }).where('expires_at', '>', tx.now).select('*'), hold);

/** A person's unexpired login codes, newest first. */
export const liveLoginCodes = (tx: ReadTx, personId: string): Promise<LoginCodeRow[]> =>
  tx.query<LoginCodeRow>((db) =>
    db('login_codes')
      .where('person_id', personId)
      .where('expires_at', '>', tx.now)
      .orderBy('created_at', 'desc')
      .orderBy('digest')
      .select('*'),
  );

/** Removes login codes that are used up or made room; answers how many were there. */
export const dropLoginCodes = (tx: WriteTx, digests: Buffer[]): Promise<number> =>
  tx.change((db) => db('login_codes').whereIn('digest', digests).delete());

export const dropLoginCodesOf = (tx: WriteTx, personId: string): Promise<number> =>
  tx.change((db) => db('login_codes').where('person_id', personId).delete());

/** How long a session is still known after its end, in milliseconds. */
const KNOWN_MS = 30 * 86_400_000;

/** Removes up to `limit` sessions that ended or expired long ago; answers how many. */
export const purgeSessions = (tx: WriteTx, limit: number): Promise<number> =>
  purgeRows(tx, { table: 'browser_sessions', key: 'id', limit }, (all) =>
    all.where('ended_at', '<=', tx.now - KNOWN_MS).orWhere('expires_at', '<=', tx.now - KNOWN_MS),
  );

/** Removes up to `limit` login codes past their end; answers how many. */
export const purgeLoginCodes = (tx: WriteTx, limit: number): Promise<number> =>
  purgeRows(tx, { table: 'login_codes', key: 'digest', limit }, (all) => all.where('expires_at', '<=', tx.now));
