/** Events of server connections and their records. A server is known by its canonical origin everywhere. */
import type { EventEmitter } from 'node:events';
import type { Answer, DeliveryMode, Inbox } from '../../contract/types.ts';
import type { TaskOutcome } from '../bundle/options.ts';
import type { SeatProblem } from '../protocol.ts';
import type { SeatRef, SessionKey } from '../refs.ts';

export type Notice = Answer<'listNotices'>['notices'][number];

/** One complete own-token read: up to 1,000 unread messages, `after` paged. */
export interface InboxRead {
  inbox: Inbox;
  /** Every unread message up to this number is in it, and behind it only urgent ones. Null: it has all. */
  completeUpTo: number | null;
  /** What became of the tasks that waited for the answers in it, by the answer's id; as far as it could be read. */
  outcomes?: ReadonlyMap<string, TaskOutcome>;
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

/** Events about watched seats. Hints of a server's stream have been turned into reads with the seat's own token. */
interface ServerEventMap {
  /** A read of the inbox is complete. Emitted before the read is returned to its caller. */
  inbox: [seat: SeatRef, read: InboxRead];
  /** The cursor on the server moved, by this or another client. */
  read: [seat: SeatRef, upTo: number];
  /** A mode the server told; the higher revision wins. */
  mode: [seat: SeatRef, mode: DeliveryMode, revision: number];
  /** Unexpired notices that are not acknowledged: the whole list each time it was read. */
  notices: [seat: SeatRef, notices: Notice[]];
  /** The seat's problem, or null when it is over. Final ones come once. */
  problem: [seat: SeatRef, problem: SeatProblem | null];
  /** `credentials.json` holds another token for the seat. */
  token: [seat: SeatRef];
  /** The lines on its board may have changed; only where they are followed. */
  lines: [seat: SeatRef];
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

/** Who reports a program's queue. */
export interface QueueLabel {
  session: SessionKey;
  boot: string;
}
