/** Real servers that behave as badly as told, and a clock that never really waits. */
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { Client, type ClientOptions } from '../../src/client/client.ts';
import { ClientError } from '../../src/client/errors.ts';
import { routes } from '../../src/contract/routes.ts';
import { PATIENCE_MS } from '../support/until.ts';

export interface Seen {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

type Answering = (seen: Seen, response: http.ServerResponse, count: number) => void;

const closers: (() => void)[] = [];

/** Ends every server and stream that a test started; for `afterEach`. */
export function closeServers(): void {
  for (const close of closers.splice(0)) close();
}

/** Aborted by `closeServers`: a stream left open would come back for ever. */
export function untilTestEnds(): AbortSignal {
  const abort = new AbortController();
  closers.unshift(() => abort.abort());
  return abort.signal;
}

/** An HTTP server on a free port; `seen` lists its requests, read to their end. */
export async function serve(
  answer: Answering,
): Promise<{ origin: string; seen: Seen[]; requests(n: number): Promise<void> }> {
  const seen: Seen[] = [];
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const record = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    seen.push(record);
    answer(record, response, seen.length);
  });
  const origin = await listen(server);
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin, seen, requests: (n) => until(() => seen.length >= n) };
}

/** A TCP server: what it does with a connection is not bound to be HTTP. */
export async function serveRaw(connected: (socket: net.Socket, count: number) => void) {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    connected(socket, sockets.length);
  });
  const origin = await listen(server);
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { origin, sockets };
}

/** An origin at which nothing listens. */
export async function deadOrigin(): Promise<string> {
  const server = net.createServer();
  const origin = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return origin;
}

async function listen(server: net.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function sendJson(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}

export const refusal = (code: string, details?: Record<string, unknown>) => ({
  error: { code, message: `It is ${code}.`, hint: 'Do this.', ...(details ? { details } : {}) },
});

export const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Lets the event loop turn until something is true. */
export async function until(condition: () => boolean): Promise<void> {
  const limit = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > limit) throw new Error(`it never came to: ${condition}`);
    await tick();
  }
}

interface Held {
  due: number;
  ms: number;
  resolve(): void;
}

/**
 * Short sleeps pass at once and move the clock; the long ones, which guard something, are held until `advance`.
 */
export class FakeClock {
  time = Date.parse('2026-03-02T09:00:00.000Z');
  /** The sleeps that passed at once, in milliseconds. */
  slept: number[] = [];
  held: Held[] = [];
  private readonly holds: (ms: number) => boolean;

  constructor(holds: (ms: number) => boolean = (ms) => ms > 9_000) {
    this.holds = holds;
  }

  now = () => this.time;

  sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    if (!this.holds(ms)) {
      this.slept.push(ms);
      this.advance(ms);
      await tick();
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const entry = { due: this.time + ms, ms, resolve };
      this.held.push(entry);
      signal?.addEventListener('abort', () => {
        this.held = this.held.filter((other) => other !== entry);
        reject(signal.reason);
      });
    });
  };

  advance(ms: number): void {
    this.time += ms;
    const due = this.held.filter((entry) => entry.due <= this.time);
    this.held = this.held.filter((entry) => entry.due > this.time);
    for (const entry of due) entry.resolve();
  }
}

/** A client on a fake clock, with the middle of every random range. */
export function clientOf(origin: string, options: Partial<ClientOptions> & { clock?: FakeClock } = {}) {
  const { clock = new FakeClock(), ...rest } = options;
  const client = new Client({
    origin,
    token: 'abh_test',
    random: () => 0.5,
    sleep: clock.sleep,
    now: clock.now,
    ...rest,
  });
  return { client, clock };
}

/** The error a promise is rejected with; fails when it is not. */
export async function failure(promise: Promise<unknown>): Promise<ClientError> {
  const outcome = await promise.then(
    () => new Error('expected a failure, but it succeeded'),
    (error: unknown) => error,
  );
  if (outcome instanceof ClientError) return outcome;
  throw outcome;
}

/** Runs with an operation put into another idempotency class: the table is data. */
export async function inClass<T>(klass: 'K' | 'R' | 'N' | 'S', run: () => Promise<T>): Promise<T> {
  const row = routes.createBoard as { idempotency: string };
  const before = row.idempotency;
  row.idempotency = klass;
  try {
    return await run();
  } finally {
    row.idempotency = before;
  }
}

/** A `fetch` that counts the chunks of bodies which the client has taken. */
export function countingFetch(): { fetch: typeof fetch; answers: () => number; chunks: () => number } {
  let answers = 0;
  let chunks = 0;
  return {
    answers: () => answers,
    chunks: () => chunks,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      answers++;
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          chunks++;
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body?.pipeThrough(counter), response);
    },
  };
}
