/**
 * A proxy in front of a true server that fails as it is told: late, cut, refused, or answered only to the server itself. It
 * is never between a person and a server; the kit and the tests bring it.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { CHALLENGE_HEADER, isChallenge, PROOF_HEADER } from '../../src/contract/local-proof.ts';
import { proofOf, secretOf } from '../../src/local/own-server/own-agent.ts';

export interface Seen {
  method: string;
  /** With its query. */
  path: string;
  token: string | undefined;
}

export type Fault =
  /** The connection breaks before the request reaches the server. */
  | 'reset'
  /** The server does it, and its answer is lost. */
  | 'drop_answer'
  /** The answer breaks off after its first bytes. */
  | 'cut'
  /** It waits until `release`. */
  | 'hold'
  /** The answer is a stream that says nothing but what is injected. */
  | 'silent'
  /** It goes on after so many milliseconds. */
  | { delayMs: number }
  | Refused;

interface Refused {
  status: number;
  code?: string;
  retryAfter?: number;
  /** A page, as something in between may send it. */
  body?: string;
  /** An answer of the right form and other content. */
  json?: unknown;
}

interface Rule {
  matches: (seen: Seen) => boolean;
  fault: Fault;
  left: number;
}

export class FaultProxy {
  readonly seen: Seen[] = [];
  /** Requests that failed as they were told to. */
  broken = 0;
  readonly #rules: Rule[] = [];
  readonly #held: (() => void)[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerResponse>();
  readonly #server = createServer((req, res) => this.#answer(req, res));
  readonly #data: string | undefined;
  #target: string;
  #port = 0;

  /** @param data the server's data folder, where the proxy is to pass for that server on its own machine. */
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

  /** Connections that are open now. */
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

  /** From now on requests go to another server. */
  retarget(url: string): void {
    this.#target = url;
  }

  /** The next `times` requests that match fail. @param path the beginning of method and path, such as `POST /v1/join`. */
  fail(path: string | ((seen: Seen) => boolean), fault: Fault, times = Number.POSITIVE_INFINITY): void {
    const matches =
      typeof path === 'string' ? ({ method, path: at }: Seen) => `${method} ${at}`.startsWith(path) : path;
    this.#rules.push({ matches, fault, left: times });
  }

  /** Nothing fails any more. */
  heal(): void {
    this.#rules.length = 0;
    this.release();
  }

  /** What is held goes on. */
  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  /** Adds a frame to every open stream, as a server may send it late or wrong. */
  inject(event: string, data: unknown): void {
    for (const stream of this.#streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  cutStreams(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Breaks every connection and refuses new ones. */
  async down(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Requests so far whose method and path begin so. */
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
      this.#streams.add(res);
      res.once('close', () => this.#streams.delete(res));
      return;
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
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      if (fault === 'drop_answer') {
        answer.resume().once('end', () => res.destroy());
        return;
      }
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        this.#streams.add(res);
        res.once('close', () => this.#streams.delete(res));
      }
      res.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...this.#proof(req) });
      answer.on('error', () => res.destroy());
      if (fault === 'cut') answer.once('data', (chunk: Buffer) => res.write(chunk.subarray(0, 1), () => res.destroy()));
      else answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  }

  /** A proof is bound to the address it was asked for at. */
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
