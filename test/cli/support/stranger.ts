/** A program at the address of a server: it says of itself what that server said, and notes whatever it is sent. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './home.ts';

interface Ways {
  /** Default: any free one. */
  port?: number;
  /** It takes requests and answers none. */
  silent?: boolean;
  /** A server whose answers it passes on. */
  relayTo?: string;
}

export class Stranger {
  /** Method and path of every request. */
  readonly asked: string[] = [];
  /** Credentials that somebody sent here. */
  readonly caught: string[] = [];
  readonly #server: Server;

  private constructor(info: object, { silent, relayTo }: Ways) {
    this.#server = createServer((req, res) => {
      this.asked.push(`${req.method} ${req.url}`);
      if (req.headers.authorization) this.caught.push(req.headers.authorization);
      if (silent) return;
      if (relayTo === undefined) {
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(info));
        return;
      }
      const { host, hostname, port } = new URL(relayTo);
      const headers = { ...req.headers, host };
      const onward = request({ hostname, port, method: req.method, path: req.url, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      });
      req.pipe(onward.on('error', () => res.destroy()));
    });
  }

  /** Listens there, as soon as the port is free. */
  static async listen(info: object, ways: Ways = {}): Promise<Stranger> {
    const stranger = new Stranger(info, ways);
    const { port = 0 } = ways;
    const listens = () =>
      new Promise<boolean>((resolve) => {
        stranger.#server.once('error', () => resolve(false));
        stranger.#server.listen(port, '127.0.0.1', () => resolve(true));
      });
    await until(`port ${port} is free`, listens);
    return stranger;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
