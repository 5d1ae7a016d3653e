/** One request on the wire, watched by the clock: from sending it to the last byte of its answer. */
import { type ClientError, timedOut } from './errors.ts';
import { networkError } from './network.ts';
import type { PreparedRequest } from './request.ts';
import { type Clock, Watchdog } from './time.ts';

export interface ExchangeLimits {
  origin: string;
  /** Milliseconds until the headers of the answer. */
  headersMs: number;
  /** When the whole of it has to be over, in the clock's milliseconds. */
  deadline: number;
  signal?: AbortSignal;
}

export interface Exchange {
  response: Response;
  /**
   * The body, chunk by chunk; ends the exchange when it is done, left or broken.
   *
   * @param idleMs milliseconds without a byte after which it counts as dead; time the reader takes is not counted.
   */
  chunks(idleMs: number, phase: string): AsyncGenerator<Uint8Array, void, void>;
  /** Drops the connection when there is anything left to read. */
  close(): void;
}

/**
 * Sends a request and resolves with the headers of its answer.
 *
 * @throws ClientError `server_unreachable`, `request_timeout` or `server_unexpected`; the signal's reason when aborted.
 */
export async function openExchange(
  clock: Clock & { fetch: typeof fetch },
  request: PreparedRequest,
  limits: ExchangeLimits,
): Promise<Exchange> {
  const { signal } = limits;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const watchdog = new Watchdog(clock, limits.deadline, () => controller.abort());
  const aborted = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', aborted, { once: true });

  const close = () => {
    watchdog.stop();
    signal?.removeEventListener('abort', aborted);
    controller.abort();
  };
  const explain = (error: unknown): ClientError => {
    if (signal?.aborted) throw signal.reason;
    return watchdog.expired === null ? networkError(error, limits.origin) : timedOut(watchdog.expired);
  };

  try {
    watchdog.arm(limits.headersMs, 'headers');
    const response = await clock.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: 'error',
      signal: controller.signal,
    });
    watchdog.rest();
    return {
      response,
      close,
      chunks: (idleMs, phase) => chunks(response, watchdog, { idleMs, phase, explain, close }),
    };
  } catch (error) {
    close();
    throw explain(error);
  }
}

interface Reading {
  idleMs: number;
  phase: string;
  explain(error: unknown): ClientError;
  close(): void;
}

async function* chunks(
  response: Response,
  watchdog: Watchdog,
  reading: Reading,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body?.getReader();
  try {
    while (reader) {
      watchdog.arm(reading.idleMs, reading.phase);
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw reading.explain(error);
      });
      watchdog.rest();
      if (done) return;
      yield value;
    }
  } finally {
    reading.close();
  }
}
