/** A subscriber of Parse Server's live queries: a WebSocket over a bare socket, as cheap as the follower of a stream. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

const TEXT = 0x81;
const PING = 0x89;
const PONG = 0x8a;
const EMPTY = Buffer.alloc(0);

export class Subscriber {
  readonly #socket: Socket;
  readonly #onMessage: (id: string, at: number) => void;
  #rest: Buffer = EMPTY;
  #upgraded = false;
  #subscribe: () => void = () => {};
  #ready: () => void = () => {};
  problem: string | null = null;

  private constructor(socket: Socket, onMessage: (id: string, at: number) => void) {
    this.#socket = socket;
    this.#onMessage = onMessage;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk, performance.now()));
    socket.on('error', (error) => {
      this.problem ??= error.message;
    });
  }

  /** Opens a socket and subscribes to every new object of the class; resolves once the server says that it is subscribed. */
  static open(url: string, session: string, onMessage: (id: string, at: number) => void): Promise<Subscriber> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once('error', reject);
      socket.once('close', () => reject(new Error(subscriber.problem ?? 'the socket was closed')));
      const subscriber = new Subscriber(socket, onMessage);
      const key = randomBytes(16).toString('base64');
      socket.once('connect', () =>
        socket.write(
          `GET /parse HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
        ),
      );
      subscriber.#subscribe = () => {
        const query = { className: 'Message', where: {} };
        subscriber.#send(JSON.stringify({ op: 'subscribe', requestId: 1, query, sessionToken: session }));
      };
      subscriber.#ready = () => resolve(subscriber);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(text: string, kind = TEXT): void {
    const body = Buffer.from(text);
    // The mask is zero: it protects proxies, of which there is not one here.
    const head = Buffer.alloc(body.length < 126 ? 6 : 8);
    head[0] = kind;
    head[1] = 0x80 | Math.min(body.length, 126);
    if (body.length >= 126) head.writeUInt16BE(body.length, 2);
    this.#socket.write(Buffer.concat([head, body]));
  }

  #take(chunk: Buffer, at: number): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.#upgraded) {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end === -1) return;
      if (!this.#rest.toString('latin1', 0, end).includes(' 101 ')) this.problem ??= 'no WebSocket';
      this.#rest = this.#rest.subarray(end + 4);
      this.#upgraded = true;
      this.#send(JSON.stringify({ op: 'connect', applicationId: 'bench' }));
    }
    while (this.#rest.length >= 2) {
      const short = this.#rest[1]! & 0x7f;
      const from = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (this.#rest.length < from) return;
      const length =
        short < 126 ? short : short === 126 ? this.#rest.readUInt16BE(2) : Number(this.#rest.readBigUInt64BE(2));
      if (this.#rest.length < from + length) return;
      this.#frame(this.#rest[0]!, this.#rest.toString('utf8', from, from + length), at);
      this.#rest = this.#rest.subarray(from + length);
    }
  }

  #frame(kind: number, text: string, at: number): void {
    const op = /"op":"(\w+)"/.exec(text)?.[1];
    if (kind === PING) this.#send(text, PONG);
    else if (op === 'create') this.#onMessage(/"objectId":"(\w+)"/.exec(text)?.[1] ?? '', at);
    else if (op === 'connected') this.#subscribe();
    else if (op === 'subscribed') this.#ready();
    else {
      this.problem ??= text.slice(0, 300);
      this.#socket.destroy();
    }
  }
}
