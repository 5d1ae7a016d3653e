/** One HTTP request with time limits, from sending it to the last byte of its answer. */
import { type ClientError, timedOut } from './errors.ts';
import { networkError } from './network.ts';
import type { PreparedRequest, UploadBody } from './request.ts';
import { type Clock, Watchdog } from './time.ts';

export interface ExchangeLimits {
  origin: string;
  /** Milliseconds until the headers of the answer. */
  headersMs: number;
  /** When the whole exchange must end, in the clock's milliseconds. */
  deadline: number;
  signal?: AbortSignal;
}

export interface Exchange {
  response: Response;
  /**
   * The body, chunk by chunk; ends the exchange when it is done, left or broken.
   *
   * @param idleMs milliseconds without a byte after which it fails; the reader's own time is not counted
   */
  chunks(idleMs: number, phase: string): AsyncGenerator<Uint8Array, void, void>;
  /** Closes the connection if anything is left to read. */
  close(): void;
}

/**
 * Sends a request and resolves with the headers of its answer.
 *
 * Aborts are handled here too, because the `fetch` of Node.js may lose the signal to the garbage collector after the
 * headers; then a dead connection would be read forever.
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
    const progress = () => watchdog.arm(limits.headersMs, 'headers');
    const response = await unlessAborted(send(clock, request, controller.signal, progress), controller.signal);
    watchdog.rest();
    const reading = { watchdog, aborted: controller.signal, explain, close };
    return { response, close, chunks: (idleMs, phase) => chunks(response, idleMs, phase, reading) };
  } catch (error) {
    close();
    throw explain(error);
  }
}

/** Sends the request. An abort cancels an unread body, which closes its connection. */
async function send(
  clock: { fetch: typeof fetch },
  request: PreparedRequest,
  signal: AbortSignal,
  progress: () => void,
): Promise<Response> {
  const { url, method, headers, body, keepalive } = request;
  const sent = typeof body === 'object' ? { body: streamOf(body, progress), duplex: 'half' as const } : { body };
  const response = await clock.fetch(url, { method, headers, ...sent, redirect: 'error', keepalive, signal });
  const drop = () => {
    // A locked body is cancelled by its reader.
    if (response.body?.locked === false) cancel(response.body);
  };
  if (signal.aborted) drop();
  else signal.addEventListener('abort', drop, { once: true });
  return response;
}

/** The bytes as a pull stream for `fetch`. */
function streamOf(bytes: UploadBody, progress: () => void): ReadableStream<Uint8Array> {
  const pieces = bytes.open()[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        progress();
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

/** Ignores errors of a body that is broken already. */
function cancel(body: { cancel(): Promise<void> }): void {
  body.cancel().catch(() => {});
}

interface Reading {
  watchdog: Watchdog;
  aborted: AbortSignal;
  explain(error: unknown): ClientError;
  close(): void;
}

async function* chunks(
  response: Response,
  idleMs: number,
  phase: string,
  { watchdog, aborted, explain, close }: Reading,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body?.getReader();
  if (reader) aborted.addEventListener('abort', () => cancel(reader), { once: true });
  try {
    while (reader) {
      watchdog.arm(idleMs, phase);
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw explain(error);
      });
      // Cancelling ends a body as if it were complete.
      if (aborted.aborted) throw explain(aborted.reason);
      watchdog.rest();
      if (done) return;
      yield value;
    }
  } finally {
    close();
  }
}
