/** The common part of both streams: connecting, detecting dead connections, reconnecting. */
import type { Client, StreamRequest } from './client.ts';
import { ClientError } from './errors.ts';
import { MAX_ATTEMPTS, STREAM_SILENCE } from './limits.ts';
import { type SseFrame, sseFrames } from './sse.ts';

export interface ReconnectInfo {
  /** Connections that failed or broke in a row; the first is 1. */
  attempt: number;
  delayMs: number;
  /** An error code, or `closed` when the server ended the stream. */
  reason: string;
}

export interface StreamOptions {
  /** Ends the stream without an error. */
  signal?: AbortSignal;
  /** Attempts for the first connection, default 5; later the stream reconnects without a limit. */
  firstAttempts?: number;
  /** Before the delay that comes before another connection. */
  onReconnect?(info: ReconnectInfo): void;
  onConnected?(info: { reconnected: boolean }): void;
}

/** Longest delay before a reconnect, and how long a connection must last to reset the failures. */
const MAX_DELAY = 60_000;
const HEALTHY_AFTER = STREAM_SILENCE;

/**
 * Frames over any number of connections, including `end`, after which it connects again: to prevent that, stop
 * reading. Ends quietly when the signal is aborted.
 *
 * @param request what to ask for, made anew for each connection.
 * @throws ClientError for an answer that another try would not change (401, 403, 404 …), or when the first connection
 * does not come about.
 */
export async function* liveFrames(
  client: Client,
  options: StreamOptions,
  request: (reconnect: boolean) => Pick<StreamRequest, 'query' | 'lastEventId'>,
): AsyncGenerator<SseFrame, void, void> {
  const { signal } = options;
  const { now, random, sleep } = client.environment;
  let connected = false;
  let failures = 0;
  let minDelay = 0;

  for (let attempt = 1; !signal?.aborted; attempt++) {
    let since: number | undefined;
    let failure: ClientError | undefined;
    try {
      const exchange = await client.openStream({ ...request(connected), signal, attempt });
      since = now();
      options.onConnected?.({ reconnected: connected });
      connected = true;
      for await (const frame of sseFrames(exchange, (ms) => (minDelay = ms))) {
        if (signal?.aborted) return;
        yield frame;
        if (frame.event === 'end') break;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof ClientError) || !shouldReconnect(error, connected)) throw error;
      if (!connected && attempt >= (options.firstAttempts ?? MAX_ATTEMPTS)) throw error;
      failure = error;
    }

    failures = since !== undefined && now() - since >= HEALTHY_AFTER ? 1 : failures + 1;
    const delayMs = reconnectDelay(failures, minDelay, failure?.retryAfter, random);
    options.onReconnect?.({ attempt: failures, delayMs, reason: failure?.code ?? 'closed' });
    try {
      await sleep(delayMs, signal);
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }
}

/**
 * Reads until the server answers, as its stream is opened until it stands.
 *
 * @param read makes one attempt, without repeating it.
 * @throws ClientError for an answer that another try would not change; the signal's reason when it is aborted.
 */
export async function untilAnswered<T>(
  client: Client,
  { signal, onReconnect }: Pick<StreamOptions, 'signal' | 'onReconnect'>,
  read: () => Promise<T>,
): Promise<T> {
  const { random, sleep } = client.environment;
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ClientError) || !shouldReconnect(error, true)) throw error;
      const delayMs = reconnectDelay(attempt, 0, error.retryAfter, random);
      onReconnect?.({ attempt, delayMs, reason: error.code });
      await sleep(delayMs, signal);
    }
  }
}

/** Where the server does not say itself how the credential of a stream ended. */
export const credentialEnded = (): ClientError =>
  new ClientError('unauthorized', 'The credential of this stream has ended.', { hint: 'Sign in again.', status: 401 });

/** Whether another try may succeed. A host name that resolved before fails now because this machine is offline. */
export const shouldReconnect = (error: ClientError, connected: boolean): boolean =>
  error.transient || (connected && error.details?.['cause'] === 'ENOTFOUND');

/**
 * Milliseconds before connection number `failures` + 1: random up to a bound that doubles from 1 s to 60 s, on top of
 * the server's least, so that clients which were cut off together do not come back together.
 */
function reconnectDelay(
  failures: number,
  minDelay: number,
  retryAfter: number | undefined,
  random: () => number,
): number {
  const limit = Math.min(MAX_DELAY, 1_000 * 2 ** (failures - 1));
  const delay = Math.round(Math.max(minDelay, Math.min(MAX_DELAY, minDelay + random() * limit)));
  return Math.max(delay, (retryAfter ?? 0) * 1000);
}
