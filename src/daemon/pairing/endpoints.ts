/** The pairing endpoints of this machine's sessions, driven by events of servers and sessions. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PairingRequest, PairingSide } from '../../contract/types.ts';
import { writePrivate } from '../../local/private-file.ts';
import type { DelegatedBoardsOptions } from '../delegation/delegated-boards.ts';
import { isFinal, type SeatIdentity, type SeatRef, seatKey } from '../refs.ts';
import type { InboxRead, ServerEvents } from '../server-link/link.ts';
import type { SeatRegistry } from '../sessions/seat-registry.ts';
import type { Receipt, Session, SessionEvents } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { PairingCall } from './api.ts';
import { bindingHash, Endpoint, type EndpointBinding, endpointKey } from './endpoint.ts';
import { type EndpointDriver, endpointDriver } from './prove-endpoint.ts';

export interface EndpointsOptions extends DelegatedBoardsOptions {
  sessions: Sessions;
  seats: SeatRegistry;
}

export class Endpoints {
  readonly driver: EndpointDriver;
  readonly #options: EndpointsOptions;
  /** New for every start of the daemon, so that no binding outlives it. */
  readonly #instance = randomBytes(16).toString('hex');
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(options: EndpointsOptions, call: PairingCall) {
    this.#options = options;
    this.driver = endpointDriver({
      call,
      environment: options.servers.environment,
      log: options.log,
      isCurrent: (endpoint) => this.#isCurrent(endpoint),
      save: () => this.#save(),
      end: (endpoint) => this.end(endpoint),
    });
  }

  /** Subscribes to events of servers and sessions. Proofs of an earlier daemon are deleted. */
  listen(servers: ServerEvents, sessions: SessionEvents): void {
    this.#save();
    servers.on('inbox', (seat, read) => this.#inbox(seat, read));
    servers.on('problem', (seat, problem) => {
      if (problem === 'unauthorized' || isFinal(problem)) for (const each of this.#of(seat)) this.end(each);
    });
    servers.on('keyEnded', (origin) => this.#endWhere(({ bound }) => bound.origin === origin));
    servers.on('pairing', (origin, requestId) => this.#requestChanged(origin, requestId));
    // The session has ended, started again or changed its seats.
    sessions.on('changed', ({ key }) => this.#endWhere((each) => each.bound.session === key && !this.#isCurrent(each)));
    sessions.on('received', (receipt) => this.#received(receipt));
  }

  close(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.ended.abort();
    this.#endpoints.clear();
    this.#save();
  }

  #requestChanged(origin: string, requestId: string): void {
    for (const side of ['initiator', 'recipient'] as const) {
      void this.#endpoints.get(endpointKey({ origin, requestId, side }))?.steps.run().catch(ignore);
    }
  }

  /** Remembers the peer's replies in the inbox, so that their receipt can be detected. */
  #inbox(seat: SeatRef, { inbox }: InboxRead): void {
    for (const endpoint of this.#of(seat)) {
      const line = endpoint.replyLine;
      if (line === null) continue;
      for (const { id, seq, reply_to_seq: ping, body } of inbox.messages) {
        if (ping !== null && body.split(/\r?\n/).includes(line))
          endpoint.replies.set(id, { ping_seq: ping, reply_seq: seq });
      }
    }
  }

  /** A session's confirmed receipt of a reply is the evidence. */
  #received(received: Receipt): void {
    for (const message of received.messages) {
      for (const endpoint of this.#of(message)) {
        const { session, boot } = endpoint.bound;
        const reply = endpoint.replies.get(message.message_id);
        if (!reply || session !== received.session || boot !== received.boot || !this.#isCurrent(endpoint)) continue;
        endpoint.evidence = { ...reply, handoff_id: received.handoff };
        void endpoint.steps.run().catch(ignore);
      }
    }
  }

  #endWhere(matches: (endpoint: Endpoint) => boolean): void {
    for (const endpoint of this.#endpoints.values()) if (matches(endpoint)) this.end(endpoint);
  }

  /** The existing endpoint if it belongs to the same boot of the same session; otherwise a new one. */
  endpoint(
    { id, generation }: PairingRequest,
    { side, session, seat }: { side: PairingSide; session: Session; seat: SeatIdentity },
  ): Endpoint {
    const { origin } = seat;
    const { serverId } = this.#options.credentials.server(origin)!;
    const binding = this.#options.seats.of(seat)?.row.generation ?? 0;
    const bound: EndpointBinding = {
      origin,
      requestId: id,
      side,
      seat,
      session: session.key,
      boot: session.row.boot,
      binding,
    };
    const hash = bindingHash(bound, { serverId, instance: this.#instance });
    const known = this.#endpoints.get(endpointKey(bound));
    if (known && known.bindingHash === hash && known.generation === generation) return known;
    return new Endpoint(bound, hash, generation, (each) => this.driver.step(each));
  }

  /** Selects an endpoint on the server; the previous one stays if the server refuses. */
  async select(endpoint: Endpoint, replace: boolean): Promise<PairingRequest> {
    const { key } = endpoint;
    const before = this.#endpoints.get(key);
    this.#endpoints.set(key, endpoint);
    try {
      const selected = await this.driver.select(endpoint, replace);
      if (before !== endpoint) before?.ended.abort();
      return selected;
    } catch (error) {
      if (before) this.#endpoints.set(key, before);
      else this.#endpoints.delete(key);
      this.#save();
      throw error;
    }
  }

  /** Whether session, boot and binding are still the ones that were selected. */
  #isCurrent({ bound: { session: key, boot, seat: ref, binding } }: Endpoint): boolean {
    const session = this.#options.sessions.get(key);
    const seat = this.#options.seats.of(ref);
    return (
      session?.row.open === true &&
      session.row.boot === boot &&
      seat?.session === session &&
      seat.row.generation === binding
    );
  }

  #of(seat: SeatRef): Endpoint[] {
    const key = seatKey(seat);
    return [...this.#endpoints.values()].filter(({ bound, state }) => state === 'open' && seatKey(bound.seat) === key);
  }

  end(endpoint: Endpoint): void {
    endpoint.state = 'over';
    endpoint.ended.abort();
    if (this.#endpoints.get(endpoint.key) === endpoint) this.#endpoints.delete(endpoint.key);
    try {
      this.#save();
    } catch {
      // The disk is full. A proof that stays in the file expires within ten minutes; the session goes on.
      this.#options.log.write('journal_error', { pairing: endpoint.bound.requestId }, 'error');
    }
  }

  /**
   * Saves the proofs of open endpoints, durably, before they are sent to the server. After a restart they are never used.
   * Without any, there is no file.
   */
  #save(): void {
    const path = join(this.#options.folders.state, 'pairing.json');
    const open = [...this.#endpoints.values()].filter(({ state }) => state === 'open');
    if (open.length === 0) return void rmSync(path, { force: true });
    const proofs = open.map(({ bound: { origin, requestId, side, seat }, token, generation, bindingHash }) => ({
      origin,
      request_id: requestId,
      side,
      agent_id: seat.member_id,
      generation,
      session_binding: bindingHash,
      token,
    }));
    writePrivate(path, `${JSON.stringify({ v: 1, proofs }, null, 2)}\n`);
  }
}

const ignore = (): void => {};
