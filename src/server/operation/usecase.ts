/** What an area offers for an operation; everything around it is done once, in this folder. */
import type { Refusal } from '../../contract/errors.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer, Body, Query } from '../../contract/types.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { RootKey } from '../text/root-key.ts';
import type { Caller, Credential, Shown } from './caller.ts';
import type { BoardTerms } from './terms.ts';

export interface Input<Name extends OperationName, Prepared = Body<Name>> {
  params: Record<string, string>;
  query: Query<Name>;
  body: Prepared;
  /** The request's number, for what the operator may look up later. */
  requestId: string;
  /** As sent, for an operation that keeps what it did under it itself. */
  idempotencyKey?: string;
}

/** What an operation without a caller is told of its request. */
export interface Door {
  /** The client's address. */
  address: string;
  /** What limits and caps per address count the client under; null where they do not apply to it. */
  subject: string | null;
  /** The browser session the request came with, not looked at yet; null also where `Authorization` was sent. */
  session: Credential | null;
  /** The bearer token, where the operation takes one of its own kind. */
  bearer: string | null;
  /** What the operation's row asks of boards. */
  terms?: BoardTerms;
}

/** An operation that only reads; its answer comes from one snapshot. */
export interface ReadCase<Name extends OperationName> {
  /** Comes before the transaction, once it is known that the credential works. */
  ahead?(caller: Caller, input: Input<Name>): Promise<void>;
  run(tx: ReadTx, caller: Caller, input: Input<Name>): Promise<Answer<Name>>;
}

/** A read that may wait until there is something to answer. */
export interface WaitCase<Name extends OperationName> {
  run(tx: ReadTx, caller: Caller, input: Input<Name>): Promise<Waited<Answer<Name>>>;
  /** The same for several requests that were woken together, answered in their order; a refusal refuses them all. */
  runAll?(tx: ReadTx, asked: readonly Asked<Name>[]): Promise<Waited<Answer<Name>>[]>;
}

/** A request with who makes it. */
export interface Asked<Name extends OperationName> {
  caller: Caller;
  input: Input<Name>;
}

export interface Waited<T> {
  answer: T;
  /** Nothing is there yet: worth waiting for, if the request asked to wait. */
  empty: boolean;
  /** The board whose changes are worth another look, and its head when this look was taken. */
  board: { id: string; head: number };
  /** What else is worth another look when it is published. */
  keys?: string[];
}

export interface WriteCase<Name extends OperationName, Prepared = Body<Name>> {
  /** Runs before the transaction: what needs no rows, such as taking secrets out of texts. */
  prepare?(body: Body<Name>): Prepared;
  /** Runs first in the transaction, before the credential's rows are held: takes the lock that all of its kind take first. */
  before?(tx: WriteTx): Promise<void>;
  /** Where the row says that an archived board refuses it in part: whether this request works there. */
  worksArchived?(body: Prepared): boolean;
  run(tx: WriteTx, caller: Caller, input: Input<Name, Prepared>): Promise<Outcome<Answer<Name>>>;
  /**
   * Whether a kept answer may still be shown, where that is not decided by what it shows (access/replay.ts).
   * @throws Refusal what a new call would get now.
   */
  recheck?(tx: WriteTx, caller: Caller, shown: Shown): Promise<void>;
  /** It ends the seat that calls it, which is told the kept answer all the same: a lost answer can be asked for again. */
  endsCaller?: true;
}

/** Bytes that are in the store, and stay there at least until this transaction ends. */
export interface StoredBytes {
  /** `sha256:` and 64 hex digits. */
  digest: string;
  size: number;
}

/** A write whose body is bytes, which arrive before its transaction. */
export interface UploadCase<Name extends OperationName> {
  /** Refuses what can be refused before the body is read; `run` asks it all again. @throws Refusal */
  check(tx: ReadTx, caller: Caller, input: Input<Name, undefined>): Promise<void>;
  run(tx: WriteTx, caller: Caller, input: Input<Name, undefined>, bytes: StoredBytes): Promise<Outcome<Answer<Name>>>;
}

/** Stored bytes, and what is said with them. */
export interface Download extends StoredBytes {
  mediaType: string;
  /** What a client saves them as; ASCII. */
  fileName: string;
  headers: Record<string, string>;
}

/** A read that answers with stored bytes. */
export interface DownloadCase<Name extends OperationName> {
  run(tx: ReadTx, caller: Caller, input: Input<Name>): Promise<Download>;
}

/** An operation that asks for no credential, or for one of its own kind. */
export interface OpenCase<Name extends OperationName, Prepared = Body<Name>> {
  prepare?(body: Body<Name>): Prepared;
  /** @param again the request has waited since an earlier run of it. */
  run(tx: WriteTx, door: Door, input: Input<Name, Prepared>, again: boolean): Promise<Outcome<Answer<Name>>>;
}

/** What a request without a caller waits for: another look when this key is published, the last one after `ms`. */
export interface Hold {
  key: string;
  ms: number;
}

export interface Outcome<T> {
  answer: T;
  /** When it is not the operation's usual one. */
  status?: number;
  /** What becomes of the browser's session cookie. */
  cookie?: { secret: string; expiresAt: number } | 'clear';
  /** Further headers of the answer. */
  headers?: Record<string, string>;
  /** Whose key an `open` use case counts as a use of, as it was read at `now`. */
  used?: { caller: Caller; now: number };
  /** It was only tried: the answer says what would be, everything done is taken back, and nothing is kept. */
  tried?: boolean;
  /** What was written stays, and the request is refused all the same. */
  refused?: Refusal;
  /** Not decided yet, and the request asked to wait; only of an `open` use case. */
  hold?: Hold;
}

/** Where this server is reached, for the links and texts it writes. */
export interface ServerAddress {
  mode: 'local' | 'team';
  /** Accepted values of the `Host` header; the first is the one to name. */
  hosts(): readonly string[];
  /** Without a slash at its end. */
  baseUrl(): string;
  /** The origin that goes with an accepted host. */
  origin(host: string): string;
}

/** What some use cases are given of the server they run in. */
export interface Deps {
  root: RootKey;
  serverId: string;
  address: ServerAddress;
  /** Tells the operator of what should never be. No secret is ever in it. */
  report(message: string, about: Record<string, string>): void;
}

/** One entry of an area's map from operation names to use cases. */
export type Offered =
  | { kind: 'read'; name: OperationName; case: ReadCase<OperationName> }
  | { kind: 'wait'; name: OperationName; case: WaitCase<OperationName> }
  | { kind: 'write'; name: OperationName; case: WriteCase<OperationName, unknown> }
  | { kind: 'open'; name: OperationName; case: OpenCase<OperationName, unknown> }
  | { kind: 'upload'; name: OperationName; case: UploadCase<OperationName> }
  | { kind: 'download'; name: OperationName; case: DownloadCase<OperationName> };

export const read = <Name extends OperationName>(
  name: Name,
  useCase: ReadCase<Name> | ReadCase<Name>['run'],
): Offered => ({
  kind: 'read',
  name,
  case: (typeof useCase === 'function' ? { run: useCase } : useCase) as unknown as ReadCase<OperationName>,
});

export const wait = <Name extends OperationName>(
  name: Name,
  useCase: WaitCase<Name> | WaitCase<Name>['run'],
): Offered => ({
  kind: 'wait',
  name,
  case: (typeof useCase === 'function' ? { run: useCase } : useCase) as unknown as WaitCase<OperationName>,
});

export const write = <Name extends OperationName, Prepared>(
  name: Name,
  useCase: WriteCase<Name, Prepared>,
): Offered => ({
  kind: 'write',
  name,
  case: useCase as unknown as WriteCase<OperationName, unknown>,
});

export const open = <Name extends OperationName, Prepared>(name: Name, useCase: OpenCase<Name, Prepared>): Offered => ({
  kind: 'open',
  name,
  case: useCase as unknown as OpenCase<OperationName, unknown>,
});

export const upload = <Name extends OperationName>(name: Name, useCase: UploadCase<Name>): Offered => ({
  kind: 'upload',
  name,
  case: useCase as unknown as UploadCase<OperationName>,
});

export const download = <Name extends OperationName>(name: Name, run: DownloadCase<Name>['run']): Offered => ({
  kind: 'download',
  name,
  case: { run } as unknown as DownloadCase<OperationName>,
});
