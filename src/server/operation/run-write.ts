/**
 * What surrounds every use case: its transaction, the credential read again in it, and for a keyed write the answer that
 * commits together with the effect.
 *
 * Two requests with one key need no lock of their own. On SQLite writes run one after the other; on Postgres both may
 * run, but the second to insert the kept answer waits for the first's commit, is refused by the unique index, starts
 * over and finds the answer. Either way there is one effect.
 */
import { Refusal } from '../../contract/errors.ts';
import { type CredentialKind, idempotencyOf, type OperationRow } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { recheckShown } from '../access/replay.ts';
import { Contention, StorageFull, UniqueViolation, Unreachable } from '../db/dialect.ts';
import type { WriteTx } from '../db/tx.ts';
import { countingOnce } from '../rates/work.ts';
import type { Call, Keyed } from './call.ts';
import { authenticate, type Caller, type Credential, endedSeat, type Shown } from './caller.ts';
import type { Engine } from './engine.ts';
import { deleteKept, findKept, insertKept, KEPT_MS, type KeptRow } from './idempotency.store.ts';
import { keyConflict } from './refusals.rules.ts';
import { requireServerRole, setTerms, termsOf } from './terms.ts';
import type { Cases, Offered, Outcome } from './usecase.ts';

export interface Reply extends Pick<Outcome<unknown>, 'cookie' | 'headers'> {
  status: number;
  /** JSON, as sent. */
  body: string;
  replayed: boolean;
}

type Write = Offered<Cases<OperationName>['write']>;

/** A request whose answer is kept. */
export interface Kept extends Keyed {
  engine: Engine;
  offered: Offered<Pick<Write['case'], 'recheck'>>;
}

/** With many creators of one name each try lets at least one of them through. */
const ATTEMPTS = 64;

/** Runs a write once, or answers what its first run answered. @throws Refusal */
export async function runWrite(engine: Engine, offered: Write, { credential, input, keyed }: Call): Promise<Reply> {
  const row: OperationRow = operations[offered.name];
  const klass = idempotencyOf(row, credential.kind);
  const keeps = !row.ownReceipt && (klass === 'K' || klass === 'R');
  const kept = keeps && keyed ? { engine, offered, ...keyed } : null;
  let seen: Seen = null;
  let refused: Refusal | undefined;
  const admit = countingOnce(engine.admit, offered.name);
  try {
    const reply = await again(() =>
      engine.db.write(
        async (tx) => {
          refused = undefined;
          await offered.case.before?.(tx);
          const past = kept && offered.case.endsCaller && (await answerOfEnded(kept, tx, credential));
          if (past) return past;
          // Asked for together with the credential, and looked at after it.
          const known = kept && ahead(findKept(tx, credential.digest, kept.key));
          const caller = await authenticate(tx, credential);
          seen = { caller, now: tx.now };
          admit(caller, tx.now, 'known', input.params);
          const replay = kept && (await replayOf(kept, tx, caller, await known));
          if (replay) return replay;
          admit(caller, tx.now, 'running', input.params);
          setTerms(caller, row, offered.case.worksArchived?.(input.body as never));
          const outcome: Outcome<unknown> = await offered.case.run(tx, caller, input as never);
          const reply = replyOf(outcome, row.ok[0]);
          if (outcome.tried) throw new DryRun(reply);
          refused = outcome.refused;
          if (kept) await keep(kept, tx, caller, reply);
          return reply;
        },
        { shares: offered.case.shares && (input.params as { board?: string }).board, ahead: true },
      ),
    );
    // Only once what was written has been committed.
    if (refused) throw refused;
    return reply;
  } catch (error) {
    if (error instanceof DryRun) return error.reply;
    if (!(error instanceof Refusal) || !kept || !error.kept) throw error;
    return keepRefusal(kept, credential, error, shownTo(seen));
  } finally {
    await noteUse(engine, seen);
  }
}

/** A read that is waited for later, if at all. */
function ahead<T>(read: Promise<T>): Promise<T> {
  read.catch(() => {});
  return read;
}

/** Takes a transaction back that was only to show what it would do. */
class DryRun extends Error {
  readonly reply: Reply;
  constructor(reply: Reply) {
    super('only tried');
    this.reply = reply;
  }
}

export function replyOf({ answer, status, cookie, headers }: Outcome<unknown>, usual = 200): Reply {
  const reply = { status: status ?? usual, body: JSON.stringify(answer), replayed: false };
  return cookie || headers ? { ...reply, cookie, headers } : reply;
}

/** Runs an operation that nobody is asked to sign in for; nothing of it is kept. @throws Refusal */
export async function runOpen(engine: Engine, offered: Offered<Cases<OperationName>['open']>, call: Call) {
  const bound = { ...call.source, terms: termsOf(operations[offered.name]) };
  const run = (tx: WriteTx, waited: boolean): Promise<Outcome<unknown>> =>
    offered.case.run(tx, bound, call.input as never, waited);
  const look = (waited: boolean) => again(() => engine.db.write((tx) => run(tx, waited)));
  const found = await engine.live.hold(await look(false), call.gone, () => look(true));
  await noteUse(engine, found.used ?? null);
  return replyOf(found, operations[offered.name].ok[0]);
}

/** Who was found to make a request, and when. */
export type Seen = { caller: Caller; now: number } | null;

const shownTo = (seen: Seen): Shown => seen?.caller.shown ?? {};

/** The operation is decided by now: a key that ended in this very moment changes nothing about it. */
export async function noteUse(engine: Engine, seen: Seen): Promise<void> {
  if (seen) await engine.used(seen.caller, seen.now).catch(() => {});
}

/** Runs again when a unique index or a lock says that another transaction came first: now its outcome can be read. */
export async function again<T>(attempt: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      if (n === ATTEMPTS) throw busy(error);
    }
  }
}

/**
 * What the database could not do, as its client is told; any other error as it is.
 * @param hint what to do where it may have been done
 */
export function asRefusal(error: unknown, hint: string): unknown {
  if (error instanceof Unreachable) return away(error, hint);
  if (error instanceof Contention) return busy(error);
  if (error instanceof StorageFull) return full(error);
  return error;
}

/** What to do about a request that may have been done. */
export function hintIfUnknown(row: OperationRow, kind: CredentialKind | undefined, key: string | undefined): string {
  const klass = idempotencyOf(row, kind);
  if (klass === '-' || klass === 'N') return 'Try again.';
  if (key !== undefined && (klass !== 'S' || row.ownReceipt))
    return 'It may have been done: send it again with the same Idempotency-Key.';
  return 'It may have been done: look at what is there before you send it again.';
}

const away = (cause: Unreachable, hint: string): Refusal =>
  new Refusal('unavailable', 'The server cannot reach its database right now.', {
    hint: cause.committing ? hint : 'Try again.',
    details: { cause: 'database', ...(cause.committing ? { outcome: 'unknown' } : {}) },
    retryAfter: 1,
    cause,
  });

export const full = (cause: unknown): Refusal =>
  new Refusal('storage_full', 'The server has no room left to store this; nothing was changed.', {
    hint: 'Tell the operator of the server: its disk is full, or its quota for files is used up.',
    cause,
  });

export const busy = (cause?: unknown): Refusal =>
  new Refusal('unavailable', 'The server is busy right now.', { hint: 'Try again.', retryAfter: 1, cause });

/** The kept answer of a key, if there is a live one; an expired row makes room. */
export async function findReplay(kept: Kept, tx: WriteTx, caller: Caller): Promise<Reply | null> {
  return replayOf(kept, tx, caller, await findKept(tx, caller.credential.digest, kept.key));
}

async function replayOf(
  { engine, offered, key, requestHash }: Kept,
  tx: WriteTx,
  caller: Caller,
  row: KeptRow | null | undefined,
): Promise<Reply | null> {
  if (!row) return null;
  if (row.expires_at <= tx.now) {
    await deleteKept(tx, caller.credential.digest, key);
    return null;
  }
  if (!row.request_hash.equals(requestHash)) throw keyConflict();
  requireServerRole(operations[offered.name], caller.person);
  const recheck = offered.case.recheck ?? recheckShown;
  await recheck(tx, caller, JSON.parse(row.recheck) as Shown, engine);
  return { status: row.status, body: openBody(engine, caller, row), replayed: true };
}

/** What a seat was told when it ended itself. Anything else it asks is refused like every request of an ended seat. */
async function answerOfEnded({ engine, key, requestHash }: Kept, tx: WriteTx, credential: Credential) {
  const caller = await endedSeat(tx, credential);
  const row = caller && (await findKept(tx, credential.digest, key));
  if (!row || row.expires_at <= tx.now || !row.request_hash.equals(requestHash)) return null;
  return { status: row.status, body: openBody(engine, caller, row), replayed: true };
}

function openBody({ root }: Engine, { credential }: Caller, row: KeptRow): string {
  if (row.class === 'K') return row.body.toString('utf8');
  return root.open(row.body, credential.token, row.scope, row.key, row.request_hash).toString('utf8');
}

export async function keep(
  { engine: { root }, offered, key, requestHash }: Kept,
  tx: WriteTx,
  { credential, shown }: Caller,
  reply: Pick<Reply, 'status' | 'body'>,
): Promise<void> {
  const sealed = idempotencyOf(operations[offered.name], credential.kind) === 'R';
  const body = Buffer.from(reply.body, 'utf8');
  await insertKept(tx, {
    scope: credential.digest,
    key,
    request_hash: requestHash,
    operation: offered.name,
    class: sealed ? 'R' : 'K',
    status: reply.status,
    body: sealed ? root.seal(body, credential.token, credential.digest, key, requestHash) : body,
    recheck: JSON.stringify(shown),
    expires_at: tx.now + KEPT_MS,
  });
}

/**
 * Keeps a refusal that the operation reached after its access checks, in a transaction of its own because the
 * operation's was rolled back. The first commit wins; a later request gets the same answer.
 */
export async function keepRefusal(kept: Kept, credential: Credential, refusal: Refusal, shown: Shown): Promise<Reply> {
  const reply = { status: refusal.status, body: JSON.stringify(refusal.body()), replayed: false };
  return again(() =>
    kept.engine.db.write(async (tx) => {
      const caller = await authenticate(tx, credential);
      const replay = await findReplay(kept, tx, caller);
      if (replay) return replay;
      Object.assign(caller.shown, shown);
      await keep(kept, tx, caller, reply);
      return reply;
    }),
  );
}
