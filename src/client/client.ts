/** The client: one method that carries out any operation of the contract, and one that opens its streams. */
import type { OperationName } from '../contract/operations.ts';
import { type ClientRoute, routes } from '../contract/routes.ts';
import type { Answer, BodyIn } from '../contract/types.ts';
import { type Reply, readRefusal, readReply } from './answer.ts';
import { unexpectedAnswer } from './body.ts';
import { ClientError, noTimeLeft } from './errors.ts';
import { type Exchange, type ExchangeLimits, openExchange } from './exchange.ts';
import { BODY_IDLE_TIMEOUT, CALL_TIMEOUT, HEADERS_TIMEOUT } from './limits.ts';
import { type PreparedRequest, prepareRequest, type Query, type RequestParts, type UploadBody } from './request.ts';
import { retryClass, retrying } from './retry.ts';
import { type Clock, Stopwatch, sleep, steadyNow } from './time.ts';

export interface RequestInfo {
  method: string;
  path: string;
  /** Whether it only asked what would be done. */
  dryRun: boolean;
  /** Null when there was no answer. */
  status: number | null;
  ms: number;
  /** 1 for the first request of a call. */
  attempt: number;
  requestId: string | null;
}

export interface ClientOptions {
  /** Canonical origin of the server, such as `https://boards.example.com`: no path, no trailing slash. */
  origin: string;
  /** Asked for once per call and once per stream connection. */
  token?: string | (() => Promise<string | undefined>);
  /** `service/<version>`. */
  userAgent?: string;
  /** Milliseconds for one call with all its attempts, the server's `wait` apart; 0 = no limit. Default 30,000. */
  timeoutMs?: number;
  /** Whether `timeoutMs` is for all calls together, but those that wait, send bytes or have a limit of their own. */
  together?: boolean;
  /** To limit the time for connecting other than the platform does, pass a `fetch` with that limit. */
  fetch?: typeof fetch;
  /** From 0 to below 1, for delays. */
  random?: () => number;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** After every request, whether it was answered or not. */
  onRequest?(info: RequestInfo): void;
  /** Before the delay that follows failed request number `attempt`. `reason` is an error code. */
  onRetry?(info: { attempt: number; delayMs: number; reason: string }): void;
}

export interface CallInput<Name extends OperationName> {
  params?: Record<string, string | number>;
  query?: Query;
  body?: BodyIn<Name>;
  /** The body of an upload. Its call has no limit of time but the silence of either side. */
  bytes?: UploadBody;
  /** For writes; default: a new one. */
  idempotencyKey?: string;
  /** Instead of the client's. */
  timeoutMs?: number;
  /** Requests for this call, the first included; default 5. */
  maxAttempts?: number;
  /** Aborting it rejects the call with the signal's reason. */
  signal?: AbortSignal;
  /** Whether a browser goes on with the request when the page that sent it is left. Its body has to be small. */
  keepalive?: boolean;
}

/** The one address with an answer about the API that is no operation. */
const DESCRIPTION: ClientRoute = {
  method: 'GET',
  path: '/openapi.json',
  credentials: ['PK', 'AG'],
  idempotency: '-',
  ok: [200],
};

/** What calls, streams and waits need from their environment. */
interface Environment extends Clock {
  fetch: typeof fetch;
  random(): number;
}

export interface StreamRequest {
  query: RequestParts['query'];
  lastEventId?: string;
  signal?: AbortSignal;
  /** Which connection of the stream this is, from 1. */
  attempt: number;
}

export class Client {
  readonly origin: string;
  /** The clock, random source and network, for code built on the client. */
  readonly environment: Environment;
  /** Milliseconds for one call, and before a transfer is tried again; infinite where there is no limit. */
  readonly timeoutMs: number;
  private readonly options: ClientOptions;
  /** Runs while calls do that share their time; null where each has its own. */
  private readonly shared: Stopwatch | null;

  /** @throws TypeError when the origin is not a canonical http or https origin. */
  constructor(options: ClientOptions) {
    const { protocol, origin } = new URL(options.origin);
    if (origin !== options.origin || !/^https?:$/.test(protocol)) {
      throw new TypeError(`not a canonical origin: ${origin}`);
    }
    this.origin = origin;
    this.options = options;
    this.timeoutMs = limitOf(options.timeoutMs ?? CALL_TIMEOUT);
    this.environment = {
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      random: options.random ?? Math.random,
      sleep: options.sleep ?? sleep,
      now: options.now ?? steadyNow,
    };
    this.shared = options.together ? new Stopwatch(this.environment.now) : null;
  }

  /**
   * Carries out one operation, retrying as its idempotency class allows: at most 5 requests, within `timeoutMs` or what
   * is left of it, all with the same bytes and the same idempotency key.
   *
   * @throws ClientError with the server's code, or `server_unreachable`, `request_timeout`, `outcome_unknown`,
   * `server_outdated`, `server_unexpected`, `response_too_large`, `invalid_request`, `key_invalid`.
   */
  async call<Name extends OperationName>(name: Name, input: CallInput<Name> = {}): Promise<Reply<Answer<Name>>> {
    return (await this.carryOut(routes[name], input)) as Reply<Answer<Name>>;
  }

  /** What the server publishes of its API, in OpenAPI. @throws ClientError as {@link Client.call} does. */
  async description(): Promise<object> {
    return (await this.carryOut(DESCRIPTION, {})).data as object;
  }

  private async carryOut(row: ClientRoute, input: CallInput<OperationName>): Promise<Reply<unknown>> {
    const { now } = this.environment;
    const waitMs = waitSeconds(input) * 1000;
    const shared = input.timeoutMs === undefined && waitMs === 0 && !input.bytes ? this.shared : null;
    const timeoutMs = input.timeoutMs === undefined ? this.timeoutMs - (shared?.ms ?? 0) : limitOf(input.timeoutMs);
    if (timeoutMs <= 0) throw noTimeLeft();
    const deadline = input.bytes ? Number.POSITIVE_INFINITY : now() + timeoutMs + waitMs;
    const request = await this.prepare(row, input);

    const { maxAttempts, signal } = input;
    const plan = {
      klass: retryClass(row, request.token),
      ownReceipt: row.ownReceipt,
      deadline,
      longestDelay: timeoutMs + waitMs,
      maxAttempts,
      signal,
      onRetry: this.options.onRetry,
    };
    const headersMs = input.bytes ? BODY_IDLE_TIMEOUT : HEADERS_TIMEOUT + waitMs;
    const work = () =>
      retrying(this.environment, plan, (attempt) =>
        this.send(request, { attempt, headersMs, deadline, signal }, (exchange) =>
          readReply(row, exchange, this.source()),
        ),
      );
    return shared ? shared.during(work) : work();
  }

  /**
   * Opens `GET /v1/stream` once, without retrying: `boardStream` and `hintStream` do that.
   *
   * @throws ClientError as {@link Client.call} does.
   */
  async openStream(stream: StreamRequest): Promise<Exchange> {
    const row: ClientRoute = routes.openStream;
    const request = await this.prepare(row, { query: stream.query });
    request.headers['Accept'] = 'text/event-stream';
    if (stream.lastEventId !== undefined) request.headers['Last-Event-ID'] = stream.lastEventId;
    return this.send(request, stream, async (exchange) => {
      const { response } = exchange;
      if (!response.ok) throw await readRefusal(row, exchange, this.source());
      if (!/^text\/event-stream\s*(;|$)/i.test(response.headers.get('content-type') ?? '')) {
        exchange.close();
        throw unexpectedAnswer(response, 'The answer is not a stream of events.');
      }
      return exchange;
    });
  }

  /**
   * Asks once for the bytes of a version, or for those from an offset on while they are still the same; `download` goes
   * on where a connection broke.
   *
   * @throws ClientError as {@link Client.call} does.
   */
  async openBytes(
    params: Record<string, string | number>,
    { from, etag, attempt, signal }: { from: number; etag: string | null; attempt: number; signal?: AbortSignal },
  ): Promise<Exchange> {
    const row: ClientRoute = routes.downloadFile;
    const request = await this.prepare(row, { params });
    Object.assign(request.headers, { Accept: '*/*', 'Accept-Encoding': 'identity' });
    if (from > 0 && etag !== null) Object.assign(request.headers, { Range: `bytes=${from}-`, 'If-Range': etag });
    return this.send(request, { attempt, signal }, async (exchange) => {
      if (!exchange.response.ok) throw await readRefusal(row, exchange, this.source());
      return exchange;
    });
  }

  /** The token goes only with operations that ask for a credential. */
  private async prepare(row: ClientRoute, parts: RequestParts): Promise<PreparedRequest> {
    const { token, userAgent } = this.options;
    const secret = row.credentials.length === 0 ? undefined : typeof token === 'function' ? await token() : token;
    return prepareRequest(row, this.origin, parts, { token: secret, userAgent });
  }

  private source() {
    return { origin: this.origin, now: this.environment.now() };
  }

  /** Sends a request once, has its answer read, and reports it. */
  private async send<T>(
    request: PreparedRequest,
    { attempt, headersMs = HEADERS_TIMEOUT, deadline = Number.POSITIVE_INFINITY, signal }: Sending,
    read: (exchange: Exchange) => Promise<T>,
  ): Promise<T> {
    const started = this.environment.now();
    let answer: Response | undefined;
    try {
      const exchange = await openExchange(this.environment, request, {
        origin: this.origin,
        headersMs,
        deadline,
        signal,
      });
      answer = exchange.response;
      return await read(exchange);
    } catch (error) {
      if (error instanceof ClientError) error.attempts = attempt;
      throw error;
    } finally {
      this.options.onRequest?.({
        method: request.method,
        path: request.path,
        dryRun: request.dryRun,
        status: answer?.status ?? null,
        ms: this.environment.now() - started,
        attempt,
        requestId: answer?.headers.get('x-request-id') ?? null,
      });
    }
  }
}

/** One of the requests of a call, from 1, with its limits. */
interface Sending extends Partial<Pick<ExchangeLimits, 'headersMs' | 'deadline' | 'signal'>> {
  attempt: number;
}

/** 0 stands for no limit. */
const limitOf = (ms: number): number => (ms === 0 ? Number.POSITIVE_INFINITY : ms);

/** How long the server was asked to hold the request: in the query of a read, in the body of a write. */
function waitSeconds({ query, body }: CallInput<OperationName>): number {
  return Number(query?.['wait'] ?? (body as { wait_seconds?: number } | undefined)?.wait_seconds ?? 0);
}
