/** The `pairing` verb: a session lists, proposes, accepts or ends pairing requests. */
import type { PairingRequest, PairingSide } from '../../contract/types.ts';
import { quoted, shellWord } from '../bundle/escape.ts';
import type { DaemonClock } from '../clock.ts';
import { ControlRefusal } from '../control/errors.ts';
import { PAIRINGS } from '../control/limits.ts';
import { resolveServer, seatOn } from '../delegation/resolve-server.ts';
import type { Journal } from '../journal/journal.ts';
import type { ApprovalWatch } from '../journal/rows.ts';
import type { Answers, Requests } from '../protocol.ts';
import type { SeatIdentity, SeatRef } from '../refs.ts';
import type { Notice, ServerEvents } from '../server-link/link.ts';
import { SingleFlight } from '../server-link/single-flight.ts';
import type { Session, SessionEvents } from '../sessions/session.ts';
import { type PairingCall, pairingCalls } from './api.ts';
import { Endpoints, type EndpointsOptions } from './endpoints.ts';
import { boardOf, isFinalRefusal, RETRY_MS } from './prove-endpoint.ts';

type Frame = Requests['pairing'];
type Answer = Answers['pairing'];
type JoinBoard = (board: string) => Promise<void>;

interface PairingOptions extends EndpointsOptions {
  clock: DaemonClock;
  journal: Journal;
}

export class Pairing {
  readonly #options: PairingOptions;
  readonly #call: PairingCall;
  readonly #watched = new SingleFlight(() => this.#selectWatched());
  #cancelRetry = (): void => {};
  /** The endpoints of this machine's sessions. */
  readonly endpoints: Endpoints;

  constructor(options: PairingOptions) {
    this.#options = options;
    this.#call = pairingCalls(options);
    this.endpoints = new Endpoints(options, this.#call);
  }

  /** Answers the verb for a verified session. @param joinBoard joins the session to a board */
  async answer(session: Session, frame: Frame, joinBoard: JoinBoard): Promise<Answer> {
    const origin = resolveServer(this.#options, frame.server, session.view);
    const { action } = frame;
    if (!['list', 'get'].includes(action) && frame.idempotency_key === undefined) throw missing('idempotency_key');
    switch (action) {
      case 'list':
        return this.#list(origin, frame);
      case 'get':
        return this.#describe(origin, await this.#request(origin, requirePairingId(frame)));
      case 'request':
        return toAnswer(await this.#propose(origin, session, frame));
      case 'select':
        return this.#bind(origin, session, { frame, side: 'initiator', id: requirePairingId(frame), joinBoard });
      case 'accept':
        return this.#bind(origin, session, {
          frame,
          side: 'recipient',
          id: await this.#resolveProposal(origin, frame),
          joinBoard,
        });
      case 'decline':
        return toAnswer(await this.#call(origin, 'person', 'declinePairing', writeInput(frame)));
      default:
        return toAnswer(await this.#cancel(origin, session, frame));
    }
  }

  listen(servers: ServerEvents, sessions: SessionEvents): void {
    this.endpoints.listen(servers, sessions);
    servers.on('notices', (seat, notices) => this.#notices(seat, notices));
  }

  /** Selects the session that asked for an invite once its approval is allowed. */
  #notices(seat: SeatRef, notices: readonly Notice[]): void {
    const allowed = notices.flatMap(({ kind, approval_id: id }) => (kind === 'approval_allowed' && id ? [id] : []));
    const watches = allowed.length === 0 ? [] : this.#options.journal.approvalWatches();
    if (watches.some((watch) => watch.origin === seat.origin && allowed.includes(watch.approval_id))) this.resume();
  }

  /** Goes on with the watched approvals, as at the daemon's start: their notices may have been acknowledged before. */
  resume(): void {
    void this.#watched.run().catch(ignore);
  }

  /** A request, with the reason if the delivery mode of one side keeps its session asleep. */
  async #describe(origin: string, request: PairingRequest): Promise<Answer> {
    const answer = toAnswer(request);
    if (request.state !== 'verifying' || answer.board === undefined) return answer;
    const params = { board: answer.board, member: '' };
    const peers = [request.initiator, request.recipient].flatMap((side) => (side ? [side.agent_id] : []));
    const asleep = await Promise.all(
      peers.map(async (member) => {
        const found = await this.#call(origin, 'person', 'getMember', { params: { ...params, member } }).catch(ignore);
        const mode = found?.delivery ?? null;
        return found && (mode === 'humans' || mode === 'off') ? [{ agent: found.name, mode }] : [];
      }),
    );
    const waits_because = asleep.flat();
    return waits_because.length === 0 ? answer : { ...answer, pairing: { ...answer.pairing!, waits_because } };
  }

  async #list(origin: string, { state, after, limit = PAIRINGS }: Frame): Promise<Answer> {
    const query = { state, after, limit };
    const { requests, next_after } = await this.#call(origin, 'person', 'listPairingRequests', { query });
    return { pairings: requests, next_after };
  }

  #request(origin: string, id: string): Promise<PairingRequest> {
    return this.#call(origin, 'person', 'getPairingRequest', { params: { pairing: id } });
  }

  async #propose(origin: string, session: Session, frame: Frame): Promise<PairingRequest> {
    const { board_id, recipient_id, initiating_agent_id, work, idempotency_key } = frame;
    if (board_id === undefined || recipient_id === undefined || work === undefined)
      throw missing('board_id, recipient_id, work');
    const seat = this.#seatOn(session, origin, board_id);
    if (!seat)
      throw new ControlRefusal('invalid_request', 'This session holds no seat on that board.', {
        hint: 'service join',
      });
    return this.#call(seat.origin, { seat }, 'createPairingRequest', {
      body: { board_id, recipient_id, initiating_agent_id: initiating_agent_id ?? seat.member_id, work },
      idempotencyKey: idempotency_key,
    });
  }

  /** The named request, or the only one that waits for this person. */
  async #resolveProposal(origin: string, frame: Frame): Promise<string> {
    if (frame.pairing_id !== undefined) return frame.pairing_id;
    const person = this.#options.credentials.server(origin)?.entry.person?.id;
    const { requests } = await this.#call(origin, 'person', 'listPairingRequests', { query: { state: 'open' } });
    const waiting = requests.filter(
      (each) => each.recipient_id === person && ['awaiting_session', 'awaiting_endpoint'].includes(each.state),
    );
    const [only, another] = waiting;
    if (only && !another) return only.id;
    if (!only)
      throw new ControlRefusal('pairing_not_found', 'No proposal waits for this person here.', {
        hint: 'service pairing list',
      });
    throw new ControlRefusal('pairing_ambiguous', 'Several proposals wait; say which one.', {
      hint: waiting.map(({ id }) => `service pairing accept ${id} --here`).join(', or '),
      details: { choices: waiting.map(({ id }) => id) },
    });
  }

  /** As the session's seat on that board, else as its person. */
  async #cancel(origin: string, session: Session, frame: Frame): Promise<PairingRequest> {
    const { board_id } = await this.#request(origin, requirePairingId(frame));
    const seat = this.#seatOn(session, origin, board_id);
    return this.#call(seat?.origin ?? origin, seat ? { seat } : 'person', 'cancelPairing', writeInput(frame));
  }

  #seatOn(session: Session, origin: string, boardId: string): SeatIdentity | undefined {
    return seatOn(this.#options.credentials, session.view, { origin, boardId });
  }

  async #bind(
    origin: string,
    session: Session,
    { frame, side, id, joinBoard }: { frame: Frame; side: PairingSide; id: string; joinBoard: JoinBoard },
  ): Promise<Answer> {
    const request = await this.#request(origin, id);
    if (!this.#seatOn(session, origin, request.board_id)) await joinBoard(boardOf(request) ?? request.board_id);
    const seat = this.#seatOn(session, origin, request.board_id);
    if (!seat) throw new ControlRefusal('pairing_changed', 'The session gave its seat up meanwhile.');
    const endpoint = this.endpoints.endpoint(request, { side, session, seat });
    if (request.state === 'ready') {
      const bound = request[side];
      if (bound?.agent_id === seat.member_id && bound.session_binding === endpoint.bindingHash)
        return toAnswer(request);
      throw new ControlRefusal('pairing_changed', 'It is ready with another session.', {
        hint: 'service pairing list',
      });
    }
    const selected = await this.endpoints.select(endpoint, frame.replace === true);
    this.#options.log.write('pairing_selected', { origin, pairing: id, side, session: session.key });
    const accepted = side === 'recipient' && !selected.accepted;
    const now = accepted ? await this.endpoints.driver.accept(endpoint, frame.idempotency_key!) : selected;
    void endpoint.steps.run().catch(ignore);
    return toAnswer(now);
  }

  /**
   * Tries all watched approvals, and again after a pause where that fails: the session has the notice by then, so nothing
   * else brings it back.
   */
  async #selectWatched(): Promise<void> {
    const { clock, journal } = this.#options;
    const tries = await Promise.allSettled(journal.approvalWatches().map((watch) => this.#tryWatched(watch)));
    this.#cancelRetry();
    if (tries.some(({ status }) => status === 'rejected'))
      this.#cancelRetry = clock.after(RETRY_MS, () => this.resume());
  }

  /** The watch lasts until the session is selected, or never can be. */
  async #tryWatched(watch: ApprovalWatch): Promise<void> {
    let over = true;
    try {
      over = await this.#selectSession(watch);
    } catch (error) {
      if (!(error instanceof ControlRefusal) || !isFinalRefusal(error.code)) throw error;
    }
    if (over) this.#options.journal.endApprovalWatch(watch);
  }

  /** Selects the session for the pairing of the invite, if both are there. @returns whether nothing is left to wait for */
  async #selectSession({ session_key, boot, approval_id, ...seat }: ApprovalWatch): Promise<boolean> {
    const session = this.#options.sessions.get(session_key);
    const current = this.#options.seats.of(seat);
    if (!session?.row.open || session.row.boot !== boot || current?.session !== session) return true;
    const found = await this.#call(seat.origin, { seat }, 'getApproval', { params: { approval: approval_id } });
    if (found.approval.state === 'pending') return false;
    const id = found.pairing_request_id;
    if (id === undefined) return true;
    const request = await this.#call(seat.origin, { seat }, 'getPairingRequest', { params: { pairing: id } });
    const endpoint = this.endpoints.endpoint(request, { side: 'initiator', session, seat: current.identity });
    await this.endpoints.select(endpoint, false).catch((error: unknown) => {
      if (error instanceof ControlRefusal && error.code === 'forbidden')
        session.pendingLines.push(notSelectedLine(request.id, current.identity.board));
      throw error;
    });
    const { origin } = seat;
    this.#options.log.write('pairing_selected', { origin, pairing: id, side: 'initiator', session: session.key });
    void endpoint.steps.run().catch(ignore);
    return true;
  }
}

/** Taking the seat again by itself would end the invite that was just allowed. */
const notSelectedLine = (id: string, board: string): string =>
  `service: this session was not selected for ${quoted(id)}: the key of this machine is not the one its seat was made with. Once the invite is used, run: service join --board ${board}; then: service pairing select ${shellWord(id)} --here`;

function requirePairingId({ pairing_id: id }: Frame): string {
  if (id !== undefined) return id;
  throw missing('pairing_id');
}

const writeInput = (frame: Frame) => ({
  params: { pairing: requirePairingId(frame) },
  idempotencyKey: frame.idempotency_key,
});

/** The request without its challenge, and the board's name if it is visible. */
function toAnswer(request: PairingRequest): Answer {
  const { challenge: _own, ...rest } = request;
  const board = boardOf(request);
  return { pairing: rest, board };
}

const missing = (what: string): ControlRefusal =>
  new ControlRefusal('invalid_request', `This is missing: ${what}.`, { hint: 'service pairing --help' });

const ignore = (): void => {};
