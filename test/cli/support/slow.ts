/** A network that passes bytes on at a limited speed, both ways, so that a transfer takes long enough to be seen or broken off. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';

export class SlowNetwork {
  /** Bytes a second. */
  speed = Number.POSITIVE_INFINITY;
  /** Requests that were passed on, as `POST /v1/…`. */
  readonly seen: string[] = [];
  readonly #server: Server;

  private constructor(target: URL) {
    this.#server = createServer((req, res) => {
      this.seen.push(`${req.method} ${req.url?.split('?')[0]}`);
      const { host, hostname, port } = target;
      const headers = { ...req.headers, host };
      const onward = request({ hostname, port, method: req.method, path: req.url, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(this.#slowly()).pipe(res);
      });
      onward.on('continue', () => res.writeContinue());
      onward.on('error', () => req.socket.destroy());
      res.on('close', () => onward.destroy());
      req.pipe(this.#slowly()).pipe(onward);
    });
    // Whether it may go on is for the target to say.
    this.#server.on('checkContinue', (req, res) => this.#server.emit('request', req, res));
  }

  static async to(target: string): Promise<SlowNetwork> {
    const network = new SlowNetwork(new URL(target));
    await new Promise<void>((resolve) => network.#server.listen(0, '127.0.0.1', resolve));
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #slowly(): Transform {
    return new Transform({
      highWaterMark: 65_536,
      transform: (chunk: Buffer, _encoding, done) => {
        const ms = (chunk.length / this.speed) * 1000;
        if (ms < 1) done(null, chunk);
        else setTimeout(() => done(null, chunk), ms);
      },
    });
  }
}
