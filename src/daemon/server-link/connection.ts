/** The connection to one server: its watched seats, its stream or long polls, and requests on behalf of seats. */
import { setTimeout } from 'node:timers/promises';
import type { CallInput } from '../../client/client.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { AgentLine, Answer, Claim, DeliveryMode } from '../../contract/types.ts';
import type { SeatProblem } from '../protocol.ts';
import type { NeedsPerson, SeatIdentity, SeatRef } from '../refs.ts';
import type { CredentialStore } from './credentials.ts';
import { Feed } from './feed.ts';
import { FollowedSeats } from './followed-seats.ts';
import { Identity } from './identity.ts';
import {
  type InboxRead,
  type Presence,
  type QueueLabel,
  SeatFailure,
  type ServerEvents,
  type ServerView,
  seatFailure,
} from './link.ts';
import { type Environment, Transport } from './transport.ts';
import { isNumber, requireClaims } from './trust.ts';

export interface ConnectionOptions {
  environment: Environment;
  credentials: CredentialStore;
  events: ServerEvents;
}

/** Every request uses the seat's own token. A failed request throws `SeatFailure`. */
export class Connection {
  readonly url: string;
  readonly transport: Transport;
  readonly identity: Identity;
  readonly #credentials: CredentialStore;
  readonly #seats: FollowedSeats;
  readonly #feed: Feed;

  constructor(url: string, { environment, credentials, events }: ConnectionOptions) {
    this.url = url;
    this.#credentials = credentials;
    this.transport = new Transport(url, environment, credentials);
    this.identity = new Identity(this.transport);
    const { transport, identity } = this;
    this.#seats = new FollowedSeats({ transport, identity, credentials, events });
    this.#feed = new Feed({ transport, identity, credentials, events, seats: this.#seats });
  }

  get size(): number {
    return this.#seats.size;
  }

  /**
   * Starts to follow a seat, with a first read of inbox and notices. No effect if it is followed already.
   * @param problem the one that was last reported, so that its end is reported too
   */
  watch(seat: SeatIdentity, problem: SeatProblem | null = null): void {
    const feed = this.#seats.add(seat, problem);
    if (feed) this.#feed.seatAdded(feed);
  }

  unwatch({ member_id: id }: SeatRef): void {
    this.#seats.remove(id);
    this.#feed.seatRemoved();
  }

  /** Reads the inbox with a request that is sent after this call. After a temporary failure it is read again later. */
  async read(ref: SeatRef, { timeoutMs }: { timeoutMs?: number } = {}): Promise<InboxRead> {
    try {
      const feed = this.#seats.get(ref.member_id);
      if (!feed) throw new SeatFailure('seat_unknown', 'This seat is not followed.');
      const read = this.#seats.refresh(feed);
      return await (timeoutMs === undefined ? read : rejectAfter(read, timeoutMs));
    } catch (error) {
      throw seatFailure(error);
    }
  }

  /** Whether the inbox could not be read from an unreachable server, and is read again by itself after a pause. */
  backsOff({ member_id: id }: SeatRef): boolean {
    const failures = this.#seats.get(id)?.inbox.backoff.failures ?? 0;
    return failures > 0 && this.#seats.calls.isUnreachable;
  }

  /** @throws SeatFailure `ack_out_of_range` when the server does not have that number. */
  async ack(ref: SeatRef, upTo: number): Promise<{ cursor: number }> {
    const { cursor } = await this.#call(ref, 'ackInbox', { body: { up_to: upTo } });
    if (isNumber(cursor)) return { cursor };
    throw new SeatFailure('server_unexpected', 'The answer is no acknowledgement.');
  }

  async ackNotices(ref: SeatRef, ids: string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += 50) {
      await this.#call(ref, 'ackNotices', { body: { ids: ids.slice(at, at + 50) } });
    }
  }

  async presence(ref: SeatRef, presence: Presence, delivery?: DeliveryMode, waiting?: NeedsPerson): Promise<void> {
    const body = { presence, delivery };
    await this.#call(ref, 'setPresence', { body: { ...body, waiting } }).catch((error: unknown) => {
      // An older server does not accept `waiting`, but knows the presence.
      if (!waiting || !(error instanceof SeatFailure) || error.code !== 'server_outdated') throw error;
      return this.#call(ref, 'setPresence', { body });
    });
  }

  async location(ref: SeatRef, at: { harness: string; session_id: string; folder: string }): Promise<void> {
    await this.#call(ref, 'setLocation', { body: at });
  }

  /** @returns the line as it stands then */
  async line(ref: SeatRef, text: string): Promise<AgentLine | null> {
    return (await this.#call(ref, 'setMyLine', { body: { kind: 'working', text, source: 'plan' } })).line;
  }

  async standingLine(ref: SeatRef): Promise<AgentLine | null> {
    return (await this.#call(ref, 'readInbox', { query: { limit: 1 } })).work.line;
  }

  /** Which agents work on which files, as visible to the seat. Also subscribes to changes. */
  async claims(ref: SeatRef): Promise<readonly Claim[]> {
    this.#feed.followLines();
    const claims = requireClaims((await this.#call(ref, 'listClaims', {})).claims);
    this.#feed.noteClaims(claims);
    return claims;
  }

  /** The epoch of the queue report: how often it was claimed. */
  async queueEpoch(ref: SeatRef): Promise<{ epoch: number }> {
    return requireEpoch(await this.#call(ref, 'getDeliveryQueue', {}));
  }

  /** @throws SeatFailure `queue_report_conflict` when another reporter claimed it meanwhile */
  async claimQueue(ref: SeatRef, body: QueueLabel & { expected_epoch: number }): Promise<{ epoch: number }> {
    return requireEpoch(await this.#call(ref, 'reportDeliveryQueue', { body }));
  }

  /** @throws SeatFailure `queue_report_conflict` when another reporter holds it, or a later revision is known */
  async reportQueue(
    ref: SeatRef,
    body: QueueLabel & { epoch: number; revision: number; messages: { message_id: string; seq: number }[] },
  ): Promise<void> {
    await this.#call(ref, 'reportDeliveryQueue', { body });
  }

  view(): ServerView {
    const { kind, connected, since, reconnects } = this.#feed;
    const { size } = this.#seats;
    const { lastError, isUnreachable } = this.#seats.calls;
    return {
      url: this.url,
      server_id: this.#credentials.server(this.url)?.serverId ?? null,
      feed: size === 0 ? 'none' : kind,
      connected: connected && !isUnreachable,
      since,
      last_error: lastError,
      reconnects,
    };
  }

  async close(): Promise<void> {
    this.#seats.close();
    const closed = this.#feed.close();
    // Ends requests of the feed that a silent server does not answer.
    this.transport.close();
    await closed;
  }

  /** Handles a change of credentials.json: seats may have new tokens, the server a new identity. */
  credentialsChanged(): void {
    for (const feed of this.#seats.credentialsChanged()) this.#feed.seatAdded(feed);
    if (this.#seats.isIdentityChanged) this.#feed.recheckIdentity();
    this.#feed.credentialsChanged();
  }

  async #call<Name extends OperationName>(ref: SeatRef, name: Name, input: CallInput<Name>): Promise<Answer<Name>> {
    try {
      return await this.#seats.calls.call(this.#seats.forRequest(ref), name, input);
    } catch (error) {
      throw seatFailure(error);
    }
  }
}

/** @throws SeatFailure `server_unexpected` for an answer without an epoch */
function requireEpoch({ epoch }: { epoch: number }): { epoch: number } {
  if (isNumber(epoch)) return { epoch };
  throw new SeatFailure('server_unexpected', 'The answer is no report of a queue.');
}

function rejectAfter<T>(read: Promise<T>, ms: number): Promise<T> {
  const late = setTimeout(ms, undefined, { ref: false }).then(() => {
    throw new SeatFailure('request_timeout', 'The server took too long.');
  });
  return Promise.race([read, late]);
}
