/** Events of server connections, their types, and failed requests. A server is identified by its canonical origin. */
import type { EventEmitter } from 'node:events';
import { ClientError } from '../../client/errors.ts';
import type { Answer, DeliveryMode, Inbox } from '../../contract/types.ts';
import { Failure } from '../../local/failure.ts';
import type { TaskOutcome } from '../bundle/options.ts';
import type { SeatProblem, StatusAnswer } from '../protocol.ts';
import type { SeatRef, SessionKey } from '../refs.ts';

export type Notice = Answer<'listNotices'>['notices'][number];

/** One complete read with the seat's own token: up to 1,000 unread messages. */
export interface InboxRead {
  inbox: Inbox;
  /** The inbox is complete up to this number; after it, it has only urgent messages. Null if it is complete. */
  completeUpTo: number | null;
  /** State of the tasks that waited for the answers in it, by the answer's id; as far as they could be read. */
  outcomes?: ReadonlyMap<string, TaskOutcome>;
  /** When the request of its first page was sent. */
  sentUs: number;
  /** When it was complete. */
  atUs: number;
}

/** A failed request of a seat. `problem` is the seat's new problem, if it has one. */
export class SeatFailure extends Error {
  readonly code: string;
  readonly problem: SeatProblem | undefined;
  /** The same request may succeed later. */
  readonly temporary: boolean;

  constructor(code: string, message: string, problem?: SeatProblem, temporary = false) {
    super(message);
    this.name = 'SeatFailure';
    this.code = code;
    this.problem = problem;
    this.temporary = temporary;
  }
}

export type Presence = 'working' | 'idle' | 'waiting' | 'no_session';

/** Events about watched seats. Hints of a server's stream become reads with the seat's own token first. */
interface ServerEventMap {
  /** A read of the inbox is complete. Emitted before the read is returned to its caller. */
  inbox: [seat: SeatRef, read: InboxRead];
  /** The cursor on the server moved, by this or another client. */
  read: [seat: SeatRef, upTo: number];
  /** The server reported a mode; the higher revision wins. */
  mode: [seat: SeatRef, mode: DeliveryMode, revision: number];
  /** Unexpired notices that are not acknowledged: the whole list each time it was read. */
  notices: [seat: SeatRef, notices: Notice[]];
  /** The seat's problem; null when it is solved. Permanent problems are emitted once. */
  problem: [seat: SeatRef, problem: SeatProblem | null];
  /** `credentials.json` has a new token for the seat. */
  token: [seat: SeatRef];
  /** The lines on its board that say files may have changed; emitted only if they are followed. */
  lines: [seat: SeatRef];
  /** The person's key was refused: what was made with it has ended too. */
  keyEnded: [origin: string];
  /** A pairing request was created or changed. */
  pairing: [origin: string, requestId: string];
}
export type ServerEvents = EventEmitter<ServerEventMap>;

/** A server as `status` shows it; `reconnects`: how often it connected again. */
export type ServerView = NonNullable<StatusAnswer['servers']>[number] & { connected: boolean; reconnects: number };

/** The reporter of a program's queue. */
export interface QueueLabel {
  session: SessionKey;
  boot: string;
}

/** Converts the error of a seat's request. Throws errors that are not of a request. */
export function seatFailure(error: unknown): SeatFailure {
  if (error instanceof SeatFailure) return error;
  // This machine's files may be mended.
  if (error instanceof Failure) return new SeatFailure(error.code, error.message, undefined, true);
  if (!(error instanceof ClientError)) throw error;
  const { code, message, status } = error;
  if (isTransient(error)) return new SeatFailure(code, message, undefined, true);
  if (status === 401) return new SeatFailure('unauthorized', message, 'unauthorized');
  if (code === 'agent_removed') return new SeatFailure(code, message, code);
  if (code === 'board_not_found') return new SeatFailure(code, message, 'board_gone');
  return new SeatFailure(code, message);
}

/** Codes of what a network does to a request: it does not know the server's name, or answers in its place. */
const OF_NETWORK = new Set(['server_unreachable', 'server_unexpected']);

/** Whether a failure is temporary, so that the request can be retried. A laptop will be in another network. */
export const isTransient = (error: unknown): error is ClientError =>
  error instanceof ClientError && (error.transient || OF_NETWORK.has(error.code));

/** Whether the server fails or is unreachable; not if it only asks to wait. */
export const isOutage = (error: unknown): boolean =>
  isTransient(error) && error.status !== 429 && error.code !== 'idempotency_in_progress';
