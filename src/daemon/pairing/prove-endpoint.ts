/** Verifies an endpoint: pings the peer, waits for the receipt of its reply, and reports that to the server. */
import { HOUR, MINUTE } from '../../contract/durations.ts';
import type { PairingDirection, PairingRequest } from '../../contract/types.ts';
import { ControlRefusal } from '../control/errors.ts';
import { retryUnreachable } from '../delegation/refusals.ts';
import { type Log, originOf } from '../log.ts';
import type { Environment } from '../server-link/transport.ts';
import type { PairingCall } from './api.ts';
import { type Endpoint, newProof } from './endpoint.ts';

/** Milliseconds between pings; then hourly. */
const PING_INTERVALS_MS = [30_000, 2 * MINUTE, 10 * MINUTE];
const LAST_PING_INTERVAL_MS = HOUR;
const MAX_PINGS = 8;
/** Proofs expire after ten minutes. */
const RENEW_MS = 8 * MINUTE;
/** Until what failed is tried again. */
export const RETRY_MS = 30_000;

const terminal = new Set<PairingRequest['state']>(['declined', 'cancelled', 'expired']);

interface EndpointDriverOptions {
  call: PairingCall;
  environment: Environment;
  log: Log;
  /** Whether the session is still the one that was bound. */
  isCurrent(endpoint: Endpoint): boolean;
  /** Saves the proofs in use; called before a new one is sent and after one has ended. */
  save(): void;
  end(endpoint: Endpoint, why: string): void;
}

export type EndpointDriver = ReturnType<typeof endpointDriver>;

/** Functions that verify endpoints. */
export function endpointDriver({ call, environment, log, isCurrent, save, end }: EndpointDriverOptions) {
  /** Reads the state of the request and performs this side's next step. */
  async function step(endpoint: Endpoint): Promise<void> {
    // One that is just being selected is not the server's yet; what selects it goes on with it.
    if (endpoint.state !== 'open' || endpoint.provenAt === null) return;
    if (!isCurrent(endpoint)) return end(endpoint, 'session_changed');
    endpoint.pause?.abort();
    try {
      await advance(endpoint).catch((error: unknown) => {
        const changed = error instanceof ControlRefusal && error.code === 'pairing_changed';
        // The other side may have been replaced after the request was read.
        if (changed && endpoint.state === 'open' && isCurrent(endpoint)) return advance(endpoint);
        throw error;
      });
    } catch (error) {
      if (!(error instanceof ControlRefusal))
        log.write('hook_error', { pairing: endpoint.bound.requestId, ...originOf(error) }, 'error');
      else if (isFinalRefusal(error.code)) return end(endpoint, error.code);
      stepAfter(endpoint, RETRY_MS);
    }
  }

  async function advance(endpoint: Endpoint): Promise<void> {
    const { origin, requestId, side } = endpoint.bound;
    const params = { pairing: requestId };
    const request = await call(origin, 'person', 'getPairingRequest', { params });
    if (terminal.has(request.state)) return end(endpoint, request.state);
    if (!isOurs(request, endpoint)) return end(endpoint, 'pairing_changed');
    if (request.state === 'ready') return ready(endpoint);
    const again = request.generation !== endpoint.generation;
    // The other side was replaced, so this session has to prove itself again.
    if (again) await renew(endpoint, request.generation);
    if (side === 'recipient' && !request.accepted) {
      await accept(endpoint, `${requestId}:${endpoint.generation}:accept`);
      return advance(endpoint);
    }
    if (request.state === 'verifying') await prove(endpoint);
  }

  async function accept(endpoint: Endpoint, key: string): Promise<PairingRequest> {
    const { origin, requestId, seat } = endpoint.bound;
    const body = { agent_id: seat.member_id, generation: endpoint.generation };
    return withProof(endpoint, (proof) =>
      call(origin, { proof }, 'acceptPairing', {
        params: { pairing: requestId },
        body,
        idempotencyKey: key,
      }),
    );
  }

  async function prove(endpoint: Endpoint): Promise<void> {
    const { origin, requestId } = endpoint.bound;
    if (environment.now() - endpoint.provenAt! >= RENEW_MS) await renew(endpoint, endpoint.generation);
    const request = await withProof(endpoint, (proof) =>
      call(origin, { proof }, 'getPairingRequest', { params: { pairing: requestId } }),
    );
    const { challenge, progress } = request;
    if (request.state !== 'verifying' || !challenge || !progress) return;
    endpoint.replyLine = challenge.reply_line;
    if (progress[challenge.direction] === 'done') return stepAfter(endpoint, RENEW_MS);
    if (endpoint.evidence && (await report(endpoint, challenge.direction))) return;
    await ping(endpoint, request);
  }

  /** Reports the evidence. @returns false if the server rejected it */
  async function report(endpoint: Endpoint, direction: PairingDirection): Promise<boolean> {
    const { origin, requestId } = endpoint.bound;
    const { generation, evidence } = endpoint;
    try {
      const request = await withProof(endpoint, (proof) =>
        call(origin, { proof }, 'verifyPairing', {
          params: { pairing: requestId },
          body: { generation, direction, ...evidence! },
          idempotencyKey: `${requestId}:${generation}:${direction}:${evidence!.handoff_id}`,
        }),
      );
      log.write('pairing_verified', { origin, pairing: requestId, direction });
      if (request.state === 'ready') ready(endpoint);
      else stepAfter(endpoint, RENEW_MS);
      return true;
    } catch (error) {
      if (!(error instanceof ControlRefusal) || error.code !== 'pairing_evidence_invalid') throw error;
      endpoint.evidence = null;
      return false;
    }
  }

  async function ping(endpoint: Endpoint, request: PairingRequest): Promise<void> {
    const { origin, requestId, seat } = endpoint.bound;
    const waited = environment.now() - endpoint.pingedAt;
    const due = endpoint.pings === 0 ? 0 : pauseAfter(endpoint.pings) - waited;
    if (endpoint.pings >= MAX_PINGS) return stepAfter(endpoint, RENEW_MS);
    if (due > 0) return stepAfter(endpoint, Math.min(due, RENEW_MS));
    const { direction, ping_text } = request.challenge!;
    const peer = peerOf(request, endpoint);
    if (peer === undefined) return stepAfter(endpoint, RETRY_MS);
    const n = endpoint.pings + 1;
    await call(origin, { seat }, 'postMessage', {
      params: { board: boardOf(request) ?? seat.board },
      body: { body: ping_text, to: [`@${peer}`], expects_reply: true },
      idempotencyKey: `${requestId}:${endpoint.generation}:${direction}:${n}`,
    });
    endpoint.pings = n;
    endpoint.pingedAt = environment.now();
    log.write('pairing_ping', { origin, pairing: requestId, direction, n });
    stepAfter(endpoint, Math.min(pauseAfter(n), RENEW_MS));
  }

  /** Runs `work`, once more with a new proof if the old one is not valid any more. */
  async function withProof<T>(endpoint: Endpoint, work: (proof: string) => Promise<T>): Promise<T> {
    try {
      return await work(endpoint.token);
    } catch (error) {
      if (!(error instanceof ControlRefusal) || error.code !== 'unauthorized') throw error;
    }
    await renew(endpoint, endpoint.generation);
    return work(endpoint.token);
  }

  async function renew(endpoint: Endpoint, generation: number): Promise<void> {
    if (generation !== endpoint.generation) endpoint.restart(generation);
    endpoint.token = newProof();
    await select(endpoint, false);
  }

  /** Saves the endpoint's proof and sends it to the server. */
  async function select(endpoint: Endpoint, replace: boolean): Promise<PairingRequest> {
    const { origin, requestId, side, seat } = endpoint.bound;
    save();
    const body = {
      request_id: requestId,
      side,
      agent_id: seat.member_id,
      session_binding: endpoint.bindingHash,
      generation: endpoint.generation,
      replace,
      client_token: endpoint.token,
    };
    // The server recognises the proof, so the request can be repeated.
    const { request } = await retryUnreachable(environment, () =>
      call(origin, 'person', 'selectPairingEndpoint', { body }),
    );
    endpoint.provenAt = environment.now();
    if (request.generation !== endpoint.generation) {
      endpoint.restart(request.generation);
      save();
    }
    return request;
  }

  function ready(endpoint: Endpoint): void {
    endpoint.state = 'ready';
    endpoint.pause?.abort();
    save();
  }

  function stepAfter(endpoint: Endpoint, ms: number): void {
    const pause = new AbortController();
    endpoint.pause = pause;
    const signal = AbortSignal.any([pause.signal, endpoint.ended.signal]);
    environment
      .sleep(ms, signal)
      .then(() => endpoint.steps.run())
      .catch(() => {});
  }

  return { step, accept, select };
}

const pauseAfter = (pings: number): number => PING_INTERVALS_MS[pings - 1] ?? LAST_PING_INTERVAL_MS;

/** Whether the server has this endpoint, with this boot of the session. */
const isOurs = (request: PairingRequest, { bound: { side, seat }, bindingHash }: Endpoint): boolean =>
  request[side]?.agent_id === seat.member_id && request[side]?.session_binding === bindingHash;

const peerOf = ({ display }: PairingRequest, { bound: { side } }: Endpoint): string | undefined =>
  side === 'initiator' ? display?.recipient_agent_name : display?.agent_name;

/** The name of its board, if it is visible. */
export const boardOf = ({ board_id, display }: PairingRequest): string | undefined =>
  display?.boards.find(({ id }) => id === board_id)?.name;

const finalRefusals = new Set([
  ...['pairing_changed', 'pairing_closed', 'pairing_not_found', 'approval_not_found'],
  ...['forbidden', 'unauthorized', 'login_required'],
]);

export const isFinalRefusal = (code: string): boolean => finalRefusals.has(code);
