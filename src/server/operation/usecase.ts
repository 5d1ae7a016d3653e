/** What serves an operation; everything around it is done once, in this folder. */
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Refusal } from '../../contract/errors.ts';
import type { Route } from '../../contract/operation.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer, Body, KindOf, Params, Query, ServerInfo } from '../../contract/types.ts';
import type { ReadTx, WriteTx } from '../db/tx.ts';
import type { Searched } from '../search/search.store.ts';
import type { RepeatedReads } from '../seats/budget.rules.ts';
import type { RootKey } from '../text/root-key.ts';
import type { Caller, Credential, Shown } from './caller.ts';
import type { BoardTerms } from './terms.ts';

interface Input<Name extends OperationName, Prepared = Body<Name>> {
  params: Params<Name>;
  query: Query<Name>;
  body: Prepared;
  /** The request's number, for what the operator may look up later. */
  requestId: string;
  /** As sent, for an operation that keeps what it did under it itself. */
  idempotencyKey?: string | undefined;
  /** As sent: where a stream goes on that was cut off. */
  lastEventId?: string | undefined;
  deps: Deps;
}

/** What an operation without a caller is told of its request. */
export interface RequestSource {
  address: string;
  /** What limits and caps per address count the client under; null where they do not apply to it. */
  subject: string | null;
  /** The browser session the request came with, not looked at yet; null also where `Authorization` was sent. */
  session: Credential | null;
  /** The bearer token, where the operation takes one of its own kind. */
  bearer: string | null;
  /** What the client wants the server to prove itself with, as sent. */
  challenge: unknown;
  /** What the operation's row asks of boards. */
  terms?: BoardTerms;
}

/** An operation that reads nothing and asks for no caller. */
export interface InfoCase<Name extends OperationName> {
  run(source: RequestSource, deps: Deps): Outcome<Answer<Name>>;
}

/** An operation that only reads; its answer comes from one snapshot. */
export interface ReadCase<Name extends OperationName> {
  /** Comes before the transaction, once it is known that the credential works. */
  ahead?(caller: Caller, input: Input<Name>): Promise<void>;
  run(tx: ReadTx, caller: Caller, input: Input<Name>): Promise<Answer<Name>>;
}

/** A read that may wait until there is something to answer. */
export interface WaitCase<Name extends OperationName> {
  run(tx: ReadTx, caller: Caller, input: Input<Name>, waits: boolean): Promise<Waited<Answer<Name>>>;
  /** The same for several requests that were woken together, answered in their order; a refusal refuses them all. */
  runAll?(tx: ReadTx, asked: readonly Asked<Name>[]): Promise<Waited<Answer<Name>>[]>;
}

/** What a wait reads, at first and again: its operation's row and use case with the request's input. */
export interface Look {
  row: Route;
  case: WaitCase<OperationName>;
  input: Input<OperationName>;
  /** The request goes on waiting where nothing is there yet. */
  waits: boolean;
}

/** What a look of a wait found at `now`. */
export interface Looked {
  caller: Caller;
  now: number;
  /** How many wake-ups there had been before it. */
  since: number;
  found: Waited<unknown> | Refusal;
}

/** A look that found nothing. */
export type Empty = Omit<Looked, 'found'> & { found: Waited<unknown> };

/** A request with who makes it. */
export interface Asked<Name extends OperationName> {
  caller: Caller;
  input: Input<Name>;
  /** The request goes on waiting where nothing is there yet: an empty answer is not sent and may be null. */
  waits: boolean;
}

export interface Waited<T> {
  answer: T | null;
  /** Nothing is there yet: worth waiting for, if the request asked to wait. */
  empty: boolean;
  /** The board whose changes are worth another look, and its head when this look was taken. */
  board: { id: string; head: number };
  /** What else is worth another look when it is published. */
  keys?: string[];
  /** After how many milliseconds another look is worth it although nothing happens. */
  again?: number | undefined;
  /** What is to be written because of what it found, before it is answered. */
  write?: ((tx: WriteTx) => Promise<void>) | undefined;
  /** Called once that is written. */
  written?: (() => void) | undefined;
}

export interface WriteCase<Name extends OperationName, Prepared = Body<Name>> {
  /** Runs before the transaction: what needs no rows, such as taking secrets out of texts. */
  prepare?(body: Body<Name>): Prepared;
  /** Runs first in the transaction, before the credential's rows are held: takes the lock that all of its kind take first. */
  before?(tx: WriteTx): Promise<void>;
  /** Where the row says that an archived board refuses it in part: whether this request works there. */
  worksArchived?(body: Prepared): boolean;
  run(tx: WriteTx, caller: Caller, input: Input<Name, Prepared>): Promise<Outcome<Answer<Name>>>;
  /** It may share a transaction with others that came at the same moment: see `Database.write`. */
  shares?: true;
  /**
   * Whether a kept answer may still be shown, where that is not decided by what it shows (access/replay.ts).
   * @throws Refusal what a new call would get now.
   */
  recheck?(tx: WriteTx, caller: Caller, shown: Shown, deps: Deps): Promise<void>;
  /** It ends the seat that calls it, which is told the kept answer all the same: a lost answer can be asked for again. */
  endsCaller?: true;
}

/** Bytes that are in the store, and stay there at least until this transaction ends. */
interface StoredBytes {
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
interface Download extends StoredBytes {
  mediaType: string;
  /** What a client saves them as; ASCII. */
  fileName: string;
  headers: Record<string, string>;
  /** The board on which one has to be to read them. */
  boardId: string;
}

/** Bytes and how to get at them, for as long as the caller may have them. */
export interface Sendable extends Download {
  open(range?: { start: number; end: number }): Promise<Readable>;
  /** Calls `cut` when the credential stops working or its caller is not on the board any more, until the returned function is called. */
  watch(cut: () => void): () => void;
}

/** A read that answers with stored bytes. */
export interface DownloadCase<Name extends OperationName> {
  run(tx: ReadTx, caller: Caller, input: Input<Name>): Promise<Download>;
}

/** A response with the headers of every answer, names and values in turn. */
export interface Opened {
  res: ServerResponse;
  standing: readonly string[];
}

/** What a stream of one board starts from, decided before its first byte. */
export interface BoardStart {
  board: { id: string; name: string };
  after: number;
  head: number;
}

/** A read that decides whether a stream may start, and from where; null: it has hints about all boards of a person. */
export interface StreamCase<Name extends OperationName> {
  run(tx: ReadTx, caller: Caller, input: Input<Name>): Promise<BoardStart | null>;
}

/** An operation that asks for no credential, or for one of its own kind. */
export interface OpenCase<Name extends OperationName, Prepared = Body<Name>> {
  prepare?(body: Body<Name>): Prepared;
  /** @param again the request has waited since an earlier run of it. */
  run(tx: WriteTx, source: RequestSource, input: Input<Name, Prepared>, again: boolean): Promise<Outcome<Answer<Name>>>;
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
  /**
   * Not decided yet, and the request asked to wait: another look when this key is published, the last one after `ms`. Only
   * of an `open` use case.
   */
  hold?: { key: string; ms: number };
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

/** What use cases are given of the server they run in. */
export interface Deps {
  root: RootKey;
  info: ServerInfo;
  address: ServerAddress;
  /** Brings the search index of these boards up to what was written before. */
  searchable(searched: Searched): Promise<void>;
  repeatedReads: RepeatedReads;
  /** Tells the operator of what should never be. No secret is ever in it. */
  report(message: string, about: object): void;
}

/** The use cases of each kind of operation. */
export interface Cases<Name extends OperationName> {
  info: InfoCase<Name>;
  open: OpenCase<Name, unknown>;
  read: ReadCase<Name>;
  wait: WaitCase<Name>;
  write: WriteCase<Name, unknown>;
  stream: StreamCase<Name>;
  upload: UploadCase<Name>;
  download: DownloadCase<Name>;
}

/** What serves an operation, of the kind that its row says; most reads are no more than a function. */
type UseCaseOf<Name extends OperationName> = Cases<Name>[KindOf<Name>] | Cases<Name>[KindOf<Name>]['run'];

/** A use case for every operation: one that is missing, or is of another kind than its row says, does not compile. */
export type UseCases = { readonly [Name in OperationName]: UseCaseOf<Name> };

/** A use case with the operation that it serves. */
export interface Offered<Case> {
  name: OperationName;
  case: Case;
}

/** The input of whichever operation. */
export interface AnyInput extends Omit<Input<never, unknown>, 'params' | 'query' | 'deps'> {
  params: Readonly<Record<string, string>>;
  query: object;
}
