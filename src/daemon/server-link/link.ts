/**
 * The connection to a server as the rest of the daemon uses it, and the events it emits. Each method of a link speaks
 * with the seat's own token. Everything that belongs to a server is keyed by its canonical origin.
 */
import type { EventEmitter } from 'node:events';
import type { Answer, DeliveryMode, Inbox } from '../../contract/types.ts';
import type { Fate } from '../bundle/options.ts';
import type { SeatProblem } from '../protocol.ts';
import type { SeatIdentity, SeatRef, SessionKey } from '../refs.ts';

export type Notice = Answer<'listNotices'>['notices'][number];

/** One complete own-token read: up to 1,000 unread messages, `after` paged. */
export interface InboxRead {
  inbox: Inbox;
  /** Every unread message up to this number is in it, and behind it only urgent ones. Null: it has all. */
  wholeUpTo: number | null;
  /** What became of the tasks that waited for the answers in it, by the answer's id; as far as it could be read. */
  fates?: ReadonlyMap<string, Fate>;
  /** When the request of its first page was sent; a read is fresh for what held before this. */
  sentUs: number;
  /** When it was complete. */
  atUs: number;
}

/** Why a seat's server gave nothing. `problem` is what the seat now has; without it the failure passes. */
export class SeatFailure extends Error {
  readonly code: string;
  readonly problem: SeatProblem | undefined;

  constructor(code: string, message: string, problem?: SeatProblem) {
    super(message);
    this.name = 'SeatFailure';
    this.code = code;
    this.problem = problem;
  }
}

export type Presence = 'working' | 'idle' | 'waiting' | 'no_session';

/** What connections tell of watched seats. Hints of a server's stream have been turned into reads with the seat's own token. */
export interface ServerEventMap {
  /** A read of the inbox is complete, whoever asked for it. Emitted before the read is returned. */
  inbox: [seat: SeatRef, read: InboxRead];
  /** The cursor on the server moved, whoever acknowledged. */
  read: [seat: SeatRef, upTo: number];
  /** A mode the server told; the higher revision wins. */
  mode: [seat: SeatRef, mode: DeliveryMode, revision: number];
  /** Unexpired notices that are not acknowledged: the whole list each time it was read. */
  notices: [seat: SeatRef, notices: Notice[]];
  /** The seat's problem, or null when it is over. Final ones come once. */
  problem: [seat: SeatRef, problem: SeatProblem | null];
  /** `credentials.json` holds another token for the seat. */
  token: [seat: SeatRef];
  /** The person's key was refused: what was made with it has ended too. */
  keyEnded: [origin: string];
  /** A pairing request was made or moved. */
  pairing: [origin: string, requestId: string];
}
export type ServerEvents = EventEmitter<ServerEventMap>;

/** A server, as `status` names it. */
export interface ServerView {
  url: string;
  server_id: string | null;
  feed: 'stream' | 'poll' | 'none';
  connected: boolean;
  since: string | null;
  last_error?: string;
  /** Times it connected again. */
  reconnects: number;
}

/** The connection to one server. Every method speaks with the seat's own token and throws `SeatFailure`. */
export interface ServerLink {
  readonly url: string;
  /** Begins to follow a seat, with one read of inbox and notices; once more has no effect. */
  watch(seat: SeatIdentity): void;
  unwatch(seat: SeatRef): void;
  /** A read that is sent after this call. */
  read(seat: SeatRef, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<InboxRead>;
  /** @throws SeatFailure `ack_out_of_range` when the server does not have that number. */
  ack(seat: SeatRef, upTo: number): Promise<{ cursor: number }>;
  notices(seat: SeatRef): Promise<Notice[]>;
  ackNotices(seat: SeatRef, ids: string[]): Promise<void>;
  presence(seat: SeatRef, presence: Presence, delivery?: DeliveryMode): Promise<void>;
  location(seat: SeatRef, at: { harness: string; session_id: string; folder: string }): Promise<void>;
  line(seat: SeatRef, text: string): Promise<void>;
  /** How often the report of the program's queue was claimed. */
  queueEpoch(seat: SeatRef): Promise<{ epoch: number }>;
  /** @throws SeatFailure `queue_report_conflict` when somebody else claimed it meanwhile. */
  claimQueue(seat: SeatRef, claim: QueueLabel & { expected_epoch: number }): Promise<{ epoch: number }>;
  /** @throws SeatFailure `queue_report_conflict` when somebody else holds it, or has said more. */
  reportQueue(
    seat: SeatRef,
    report: QueueLabel & { epoch: number; revision: number; messages: { message_id: string; seq: number }[] },
  ): Promise<void>;
  view(): ServerView;
}

/** Who reports a program's queue. */
export interface QueueLabel {
  session: SessionKey;
  boot: string;
}

/** All servers. A token goes only to the origin that issued it. */
export interface ServerLinks {
  at(origin: string): ServerLink;
  /** Those with a watched seat. */
  views(): ServerView[];
  close(): Promise<void>;
}
