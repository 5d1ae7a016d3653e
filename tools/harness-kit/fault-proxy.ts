/**
 * A proxy in front of a server that injects faults: delays, cut connections, refusals, lost answers. Only the kit and tests
 * use it.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CHALLENGE_HEADER, isChallenge, PROOF_HEADER } from '../../src/contract/local-proof.ts';
import { proofOf, secretOf } from '../../src/local/own-server/own-agent.ts';

export interface Seen {
  method: string;
  /** With the query. */
  path: string;
  token: string | undefined;
}

export type Fault =
  /** The connection breaks before the request reaches the server. */
  | 'reset'
  /** The server handles the request, but its answer is lost. */
  | 'drop_answer'
  /** The server handles the request, but what comes back is no HTTP. */
  | 'garble'
  /** The answer ends after its first byte. */
  | 'cut'
  /** The request waits until `release` is called. */
  | 'hold'
  /** The answer is a stream with only the injected events. */
  | 'silent'
  /** The request is delayed. */
  | { delayMs: number }
  | Refused;

interface Refused {
  status: number;
  code?: string;
  retryAfter?: number;
  /** HTML instead of JSON, like the error page of a gateway. */
  body?: string;
  /** The JSON of the answer. */
  json?: unknown;
}

interface Rule {
  matches: (seen: Seen) => boolean;
  fault: Fault;
  left: number;
}

export class FaultProxy {
  readonly seen: Seen[] = [];
  /** Number of requests that a fault was applied to. */
  broken = 0;
  readonly #rules: Rule[] = [];
  readonly #held: (() => void)[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerResponse>();
  readonly #server = createServer((req, res) => this.#answer(req, res));
  readonly #data: string | undefined;
  #target: string;
  #port = 0;

  /** @param data the server's data folder, if the proxy has to prove that it is this machine's own server */
  constructor(target: string, data?: string) {
    this.#target = target;
    this.#data = data;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  get held(): number {
    return this.#held.length;
  }

  async listen(port = this.#port): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** Forwards later requests to another server. */
  retarget(url: string): void {
    this.#target = url;
  }

  /** Applies a fault to the next `times` matching requests. @param path the start of method and path, such as `POST /v1/join` */
  fail(path: string | ((seen: Seen) => boolean), fault: Fault, times = Number.POSITIVE_INFINITY): void {
    const matches =
      typeof path === 'string' ? ({ method, path: at }: Seen) => `${method} ${at}`.startsWith(path) : path;
    this.#rules.push({ matches, fault, left: times });
  }

  /** Removes all faults, and forwards the requests that are held. */
  heal(): void {
    this.#rules.length = 0;
    this.release();
  }

  /** Forwards the requests that are held. */
  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  /** Sends an event on every open stream. */
  inject(event: string, data: unknown): void {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  cutStreams(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Closes all connections and refuses new ones. */
  async down(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Number of requests so far. @param path the start of method and path */
  count(path: string): number {
    return this.seen.filter((seen) => `${seen.method} ${seen.path}`.startsWith(path)).length;
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const seen = { method: req.method!, path: req.url!, token: req.headers.authorization?.replace(/^Bearer /, '') };
    this.seen.push(seen);
    const fault = this.#faultOf(seen);
    if (fault === 'reset') {
      res.destroy();
      return;
    }
    if (fault === 'silent') {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return this.#addStream(res);
    }
    if (fault === 'hold') await new Promise<void>((resolve) => this.#held.push(resolve));
    if (typeof fault === 'object' && fault !== null && 'delayMs' in fault)
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    else if (typeof fault === 'object' && fault !== null) {
      refuse(req, res, fault);
      return;
    }
    this.#passOn(req, res, fault);
  }

  #addStream(res: ServerResponse): void {
    this.#streams.add(res);
    res.once('close', () => this.#streams.delete(res));
  }

  #faultOf(seen: Seen): Fault | null {
    const rule = this.#rules.find(({ matches, left }) => left > 0 && matches(seen));
    if (!rule) return null;
    rule.left--;
    this.broken++;
    return rule.fault;
  }

  #passOn(req: IncomingMessage, res: ServerResponse, fault: Fault | null): void {
    const { method, url: path } = req;
    const { host, port } = new URL(this.#target);
    const headers = { ...req.headers, host };
    // A page that is opened through the proxy.
    if (headers.origin === this.url) headers.origin = this.#target;
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      if (fault === 'drop_answer') {
        answer.resume().once('end', () => res.destroy());
        return;
      }
      if (fault === 'garble') {
        answer.resume().once('end', () => res.socket?.end('no answer\r\n\r\n'));
        return;
      }
      if (answer.headers['content-type']?.startsWith('text/event-stream')) this.#addStream(res);
      res.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...this.#proof(req) });
      answer.on('error', () => res.destroy());
      if (fault === 'cut') answer.once('data', (chunk: Buffer) => res.write(chunk.subarray(0, 1), () => res.destroy()));
      else answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  }

  /** The proof of this machine's own server, for the proxy's address. */
  #proof({ headers }: IncomingMessage): Record<string, string> {
    const challenge = headers[CHALLENGE_HEADER];
    const secret = this.#data === undefined ? null : secretOf({ data: this.#data });
    return secret && isChallenge(challenge) ? { [PROOF_HEADER]: proofOf(secret, challenge, this.url) } : {};
  }
}

function refuse(req: IncomingMessage, res: ServerResponse, fault: Refused): void {
  req.resume();
  const error = { code: fault.code ?? 'internal', message: 'The proxy says so.', hint: 'Wait.' };
  res.writeHead(fault.status, {
    'content-type': fault.body === undefined ? 'application/json; charset=utf-8' : 'text/html',
    ...(fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }),
  });
  res.end(fault.body ?? JSON.stringify(fault.json ?? { error }));
}
