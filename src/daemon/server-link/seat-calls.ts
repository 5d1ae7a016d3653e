/** Requests with the seats' own tokens. A failure is either temporary or becomes the seat's problem. */
import type { EventEmitter } from 'node:events';
import type { CallInput } from '../../client/client.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer } from '../../contract/types.ts';
import type { SeatProblem } from '../protocol.ts';
import { isFinal } from '../refs.ts';
import type { CredentialStore } from './credentials.ts';
import type { Identity } from './identity.ts';
import { isOutage, isTransient, SeatFailure, type ServerEvents, seatFailure } from './link.ts';
import type { SeatFeed } from './seat-feed.ts';
import type { Transport } from './transport.ts';

/** Failures in a row before a server counts as unreachable. */
const UNREACHABLE_AFTER = 3;

export type ConnectionHints = EventEmitter<{ reconnect: []; owner: [] }>;

/** What all parts of the connection to one server share. */
export interface ServerLink {
  transport: Transport;
  identity: Identity;
  credentials: CredentialStore;
  events: ServerEvents;
}

interface SeatCallsOptions extends ServerLink {
  /** The seats that are followed, by member id. */
  seats: ReadonlyMap<string, SeatFeed>;
  hints: ConnectionHints;
}

export class SeatCalls {
  readonly #options: SeatCallsOptions;
  /** Failures in a row, of all seats together. */
  #failures = 0;
  lastError: string | undefined;

  constructor(options: SeatCallsOptions) {
    this.#options = options;
  }

  /**
   * One request of a seat with its own token.
   *
   * @throws SeatFailure or ClientError if the failure concerns the seat; a ClientError if it is temporary
   */
  async call<Name extends OperationName>(
    feed: SeatFeed,
    name: Name,
    input: CallInput<Name> & { slow?: boolean },
  ): Promise<Answer<Name>> {
    const { slow, ...rest } = input;
    const { transport, identity } = this.#options;
    const token = this.#tokenOf(feed);
    try {
      await identity.check();
      const { data } = await transport.client(token, slow).call(name, { ...(rest as CallInput<Name>), maxAttempts: 1 });
      this.succeeded();
      return data;
    } catch (error) {
      if (feed.ended.signal.aborted) throw error;
      if (isTransient(error)) {
        this.failed(error);
        throw error;
      }
      await this.#applyFailure(feed, token, seatFailure(error));
      throw error;
    }
  }

  get isUnreachable(): boolean {
    return this.#failures >= UNREACHABLE_AFTER;
  }

  /** Counts a successful answer: ends `server_unreachable`. */
  succeeded(): void {
    const before = this.#failures;
    this.#failures = 0;
    if (before >= UNREACHABLE_AFTER) for (const feed of this.#options.seats.values()) this.#reportProblem(feed);
    if (before > 0) this.#options.hints.emit('reconnect');
  }

  /** Counts a temporary failure of a request or the stream. */
  failed(error: unknown): void {
    this.lastError = error instanceof Error && 'code' in error ? String(error.code) : 'internal';
    if (!isOutage(error)) return;
    this.#options.identity.invalidate();
    this.#failures++;
    if (this.#failures === UNREACHABLE_AFTER)
      for (const feed of this.#options.seats.values()) this.#reportProblem(feed);
  }

  /** @throws SeatFailure if no token is saved, or only one that the server refused */
  #tokenOf(feed: SeatFeed): string {
    if (feed.problem && isFinal(feed.problem)) {
      throw new SeatFailure(feed.problem, 'This seat is over.', feed.problem);
    }
    const saved = this.#options.credentials.seat(this.#options.transport.origin, feed.seat.member_id);
    const token = saved?.token ?? null;
    // A command on this machine ended the seat.
    if (token === null && saved?.ended_at) {
      this.setProblem(feed, 'agent_removed');
      throw new SeatFailure('agent_removed', 'This seat is over.', 'agent_removed');
    }
    if (token === null || token === feed.refusedToken) {
      this.setProblem(feed, 'unauthorized');
      throw new SeatFailure('unauthorized', 'This machine holds no working token for the seat.', 'unauthorized');
    }
    feed.token = token;
    return token;
  }

  /** Applies a failure to a seat, after checking that the pinned server answered. */
  async #applyFailure(feed: SeatFeed, token: string, failure: SeatFailure): Promise<void> {
    const { problem } = failure;
    if (problem === undefined) return;
    if (problem === 'server_identity_changed') {
      this.setProblem(feed, problem);
      this.#options.hints.emit('reconnect');
      return;
    }
    this.#options.identity.invalidate();
    const identityError = await this.#options.identity.check().catch((error: unknown) => error);
    if (this.#options.seats.get(feed.seat.member_id) !== feed) return;
    if (identityError !== undefined) {
      if (identityError instanceof SeatFailure) await this.#applyFailure(feed, token, identityError);
      return;
    }
    if (problem === 'unauthorized') feed.refusedToken = token;
    this.setProblem(feed, problem);
    if (problem !== 'agent_removed') return;
    await this.#options.credentials.endSeat(this.#options.transport.origin, feed.seat.member_id).catch(ignore);
  }

  setProblem(feed: SeatFeed, problem: SeatProblem | null): void {
    feed.problem = problem;
    this.#reportProblem(feed);
  }

  #reportProblem(feed: SeatFeed): void {
    const problem = feed.problem ?? (this.isUnreachable ? 'server_unreachable' : null);
    if (problem === feed.reportedProblem || this.#options.seats.get(feed.seat.member_id) !== feed) return;
    feed.reportedProblem = problem;
    this.#options.events.emit('problem', feed.seat, problem);
  }
}

const ignore = (): void => {};
