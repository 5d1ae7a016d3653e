/**
 * HTTP/1.1 over a bare socket. The load must cost far less than what it loads, and `node:http` as a client costs more
 * than the floor does as a server.
 */
import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  body: Buffer;
  /** When its last byte was seen, by `performance.now()`. */
  at: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);

/** One keep-alive connection with one request at a time. */
export class Wire {
  readonly #socket: Socket;
  #rest: Buffer = EMPTY;
  #need = -1;
  #status = 0;
  #ended: Error | null = null;
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static open(url: string): Promise<Wire> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Wire(socket)));
    });
  }

  send(request: Buffer | string): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (this.#need === -1) {
      const end = this.#rest.indexOf(HEAD_END);
      if (end === -1) return;
      const head = this.#rest.toString('latin1', 0, end);
      this.#status = Number(head.slice(9, 12));
      this.#need = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      this.#rest = this.#rest.subarray(end + HEAD_END.length);
    }
    if (this.#rest.length < this.#need) return;
    const body = this.#rest.subarray(0, this.#need);
    this.#rest = this.#rest.subarray(this.#need);
    this.#need = -1;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: this.#status, body, at: performance.now() });
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/** A request as bytes. */
export function request(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${new URL(url).host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}
