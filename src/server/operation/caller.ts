/**
 * Who makes a request. Resolved once to decide about the request's shape and limits, and again inside the transaction
 * that reads or changes anything, so that nothing commits after its credential ended.
 */
import { Refusal } from '../../contract/errors.ts';
import { tokenKinds } from '../../contract/ids.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import {
  type DelegationRow,
  findDelegation,
  findKey,
  findKeys,
  findProof,
  findSeat,
  findSeats,
  findSession,
  findSessions,
  type KeyRow,
  type ProofUseRow,
  type SeatRow,
  type SessionRow,
} from '../keys/credentials.store.ts';
import { requestById, type SubjectRow } from '../pairing/requests.store.ts';
import { endOf, isLive } from '../pairing/subject.rules.ts';
import type { RootKey } from '../text/root-key.ts';
import type { BoardTerms } from './terms.ts';

/** What was presented, as far as it can be told without a look-up. */
export interface Credential {
  kind: 'PK' | 'BR' | 'AG' | 'DG' | 'PC';
  digest: Buffer;
  token: string;
  /** It came in the browser's cookie, not as bearer. */
  cookie?: true;
}

/** Permanent ids an answer shows; a replay asks again whether the caller may still see them. */
export interface Shown {
  board?: string;
  /** The operation needed membership, not only sight. */
  member?: true;
  /** The board is not seen by the caller, who is a server admin: the answer tells nothing of it but its id. */
  hidden?: true;
  /** The operation ended the board. */
  deleted?: true;
  /** A board that was described as the holder of a name. */
  holder?: string;
  /** Boards that the answer names among other things. */
  boards?: string[];
  /** The caller had to be a server admin. */
  need?: 'admin';
  message?: string;
  person?: string;
  /** The request that was decided. */
  approval?: string;
  /** The proposal of work that was changed. */
  pairing?: string;
  /** The join code that brought them. */
  code?: string;
  seat?: string;
  token_digest?: string;
}

interface CallerBase {
  credential: Credential;
  key: Pick<KeyRow, 'key_id' | 'key_name' | 'key_expires_at' | 'key_idle_seconds' | 'key_last_used_at'>;
  person: Pick<KeyRow, 'person_id' | 'handle' | 'display_name' | 'server_role' | 'person_created_at'>;
  /** When the credential ends by itself; null: never. Milliseconds since the epoch. */
  endsAt: number | null;
  /** Filled in by the look-ups of the operation as they succeed. */
  shown: Shown;
  /** What the running operation's row asks of boards; none while a kept answer is checked. */
  terms?: BoardTerms;
}

/** A person with their own access key. */
export interface KeyCaller extends CallerBase {
  kind: 'PK';
  seat: null;
}

/** A person in a browser. */
export interface BrowserCaller extends CallerBase {
  kind: 'BR';
  seat: null;
  session: SessionRow;
}

export interface SeatCaller extends CallerBase {
  kind: 'AG';
  /** Read along with the credential. */
  seat: SeatRow;
}

/** A machine that brings its person's sessions onto boards; it acts within that person's access and has no more. */
export interface DelegateCaller extends CallerBase {
  kind: 'DG';
  seat: null;
  delegation: DelegationRow;
}

/** One side of a pairing request, in the session that was selected for it. It may read, accept and verify, and nothing else. */
export interface PairingCaller extends CallerBase {
  kind: 'PC';
  seat: null;
  proof: ProofUseRow;
}

export type PersonCaller = KeyCaller | BrowserCaller;
export type Caller = PersonCaller | SeatCaller | DelegateCaller | PairingCaller;

/** Whether a person acts themselves, with their key or in a browser. */
export const isPerson = (caller: Caller): caller is PersonCaller => caller.kind === 'PK' || caller.kind === 'BR';

/** Whether a person acts themselves who is a server admin now. */
export const isAdmin = (caller: Caller): boolean => isPerson(caller) && caller.person.server_role === 'admin';

/** Tells the kind of a bearer token by its form. @throws Refusal `unauthorized` for anything else. */
export function credentialOf(token: string, root: RootKey): Credential {
  for (const [kind, pattern] of tokenKinds) {
    if (kind !== 'IN' && pattern.test(token)) return { kind, digest: root.tokenDigest(token), token };
  }
  throw unauthorized();
}

export function unauthorized(): Refusal {
  return new Refusal('unauthorized', 'This request has no working credential.', {
    hint: 'Send "Authorization: Bearer <access key>". On the command line: service status.',
    headers: challenge,
  });
}

/** Goes with every 401. */
export const challenge = { 'WWW-Authenticate': 'Bearer realm="service"' };

/**
 * Reads the credential's rows and decides whether it works at `tx.now`.
 * @throws Refusal `unauthorized`; for a seat also `board_not_found` (its board is deleted) and `agent_removed`;
 * for a delegation `delegation_revoked`.
 */
export async function authenticate(tx: ReadTx | WriteTx, credential: Credential): Promise<Caller> {
  switch (credential.kind) {
    case 'PK':
      return keyCaller(credential, await findKey(tx, credential.digest), tx.now);
    case 'BR':
      return browserCaller(credential, await findSession(tx, credential.digest), tx.now);
    case 'AG':
      return seatCaller(credential, await findSeat(tx, credential.digest), tx.now);
    case 'DG': {
      const delegation = await findDelegation(tx, credential.digest);
      if (!delegation || !delegationWorks(delegation, tx.now)) throw delegationRevoked();
      return { kind: 'DG', ...base(credential, delegation), seat: null, delegation };
    }
    case 'PC': {
      const proof = await findProof(tx, credential.digest);
      // It and its board are locked by what uses the proof, which then asks again.
      const request = proof && (await requestById(tx, proof.request_id));
      if (!request || !proofWorks(proof, request, tx.now)) throw unauthorized();
      return { kind: 'PC', ...base(credential, proof, proof.proof_expires_at), seat: null, proof };
    }
  }
}

/**
 * The same for several at once in a few statements: each one's caller, or the refusal that `authenticate` throws, in the
 * order asked.
 */
export async function authenticateAll(tx: ReadTx, credentials: readonly Credential[]): Promise<(Caller | Refusal)[]> {
  const of = (kind: Credential['kind']): Buffer[] =>
    credentials.filter((one) => one.kind === kind).map(({ digest }) => digest);
  const keys = byDigest(await findKeys(tx, of('PK')), ({ digest }) => digest);
  const sessions = byDigest(await findSessions(tx, of('BR')), ({ digest }) => digest);
  const seats = byDigest(await findSeats(tx, of('AG')), (seat) => seat.token_digest);
  const callers: (Caller | Refusal)[] = [];
  for (const credential of credentials) {
    const digest = credential.digest.toString('hex');
    callers.push(
      await orRefusal(() => {
        switch (credential.kind) {
          case 'PK':
            return keyCaller(credential, keys.get(digest), tx.now);
          case 'BR':
            return browserCaller(credential, sessions.get(digest), tx.now);
          case 'AG':
            return seatCaller(credential, seats.get(digest), tx.now);
          default:
            return authenticate(tx, credential);
        }
      }),
    );
  }
  return callers;
}

/** Rows by their digest in hex. */
const byDigest = <R>(rows: R[], digestOf: (row: R) => Buffer): Map<string, R> =>
  new Map(rows.map((row) => [digestOf(row).toString('hex'), row]));

/** What `read` answers, or the refusal it throws. */
export async function orRefusal<T>(read: () => T | Promise<T>): Promise<T | Refusal> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function keyCaller(credential: Credential, row: KeyRow | undefined, now: number): KeyCaller {
  if (!row || !keyWorks(row, now)) throw unauthorized();
  return { kind: 'PK', ...base(credential, row), seat: null };
}

function browserCaller(credential: Credential, session: SessionRow | undefined, now: number): BrowserCaller {
  if (!session || !sessionWorks(session, now)) throw unauthorized();
  return { kind: 'BR', ...base(credential, session, session.session_expires_at), seat: null, session };
}

function seatCaller(credential: Credential, seat: SeatRow | undefined, now: number): SeatCaller {
  if (!seat) throw unauthorized();
  if (seat.lifecycle === 'deleted') throw boardNotFound();
  if (seat.status !== 'active') throw agentRemoved(seat);
  if (!keyWorks(seat, now)) throw unauthorized();
  return { kind: 'AG', ...base(credential, seat), seat };
}

/**
 * The caller behind a seat that has ended, as long as its board and its key are there: only to be told again how it ended.
 */
export async function endedSeat(tx: ReadTx | WriteTx, credential: Credential): Promise<SeatCaller | null> {
  const seat = credential.kind === 'AG' ? await findSeat(tx, credential.digest) : undefined;
  if (!seat || seat.status === 'active' || seat.lifecycle === 'deleted' || !keyWorks(seat, tx.now)) return null;
  return { kind: 'AG', ...base(credential, seat), seat };
}

function base(credential: Credential, row: KeyRow, ownEnd: number | null = null): CallerBase {
  const ends = [row.key_expires_at, ownEnd].filter((end) => end !== null);
  return { credential, key: row, person: row, endsAt: ends.length === 0 ? null : Math.min(...ends), shown: {} };
}

/** A key works while it is not revoked, not expired (an end of exactly now counts as expired) and its person is there. */
export function keyWorks(row: Pick<KeyRow, 'key_revoked_at' | 'key_expires_at' | 'person_removed_at'>, now: number) {
  if (row.key_revoked_at !== null || row.person_removed_at !== null) return false;
  return row.key_expires_at === null || row.key_expires_at > now;
}

export const sessionWorks = (row: SessionRow, now: number): boolean =>
  row.session_ended_at === null && row.session_expires_at > now && keyWorks(row, now);

const delegationWorks = (row: DelegationRow, now: number): boolean =>
  row.delegation_ended_at === null && keyWorks(row, now);

/** Whether an endpoint is still what its proof was made for, on a request that is open and a board that is active. */
function proofWorks(proof: ProofUseRow, row: SubjectRow, now: number): boolean {
  const { side, proof_revoked_at: revoked, proof_expires_at: end } = proof;
  if (revoked !== null || end <= now || !keyWorks(proof, now) || proof.generation !== row.generation) return false;
  if (row.board_lifecycle !== 'active' || endOf(row, now) !== null || !isLive(row, side, now)) return false;
  const bound = row[`${side}_key_id`] === proof.key_id && row[`${side}_binding`] === proof.binding;
  return bound && row[`${side}_agent_id`] === proof.agent_id;
}

function delegationRevoked(): Refusal {
  return new Refusal('delegation_revoked', 'This delegation no longer works.', {
    hint: "Make another with the machine's own key; if that key was revoked: service login.",
    headers: challenge,
  });
}

/** The one answer for a board that is missing, hidden or deleted. */
export function boardNotFound(): Refusal {
  return new Refusal('board_not_found', 'There is no such board here.', {
    hint: 'service board list shows the boards you can see.',
  });
}

function agentRemoved(seat: SeatRow): Refusal {
  return new Refusal('agent_removed', `The agent ${seat.name} is no longer on ${seat.board_name}.`, {
    hint: 'Its person can add a new agent: service agent create NAME --board BOARD; a session then takes it: service resume NAME.',
    details: {
      agent: seat.name,
      board: seat.board_name,
      removed_at: seat.removed_at === null ? null : new Date(seat.removed_at).toISOString(),
      removed_by: seat.removed_by,
    },
  });
}
