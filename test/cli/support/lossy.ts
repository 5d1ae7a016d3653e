/** A network that loses answers: what is sent through it arrives, and what comes back may not. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Passing {
  method: string;
  path: string;
  body: string;
}

type Fate = 'pass' | 'lose' | 'gateway' | 'halve' | 'spoil' | 'cut';

export class LossyNetwork {
  /**
   * Called before a request is passed on; `lose` drops its answer, `gateway` answers 503 in its place, `halve` the second half of it, `spoil` changes its last
   * byte, `cut` drops the request itself.
   */
  decide: (passing: Passing) => Fate | Promise<Fate> = () => 'pass';
  readonly seen: Passing[] = [];
  readonly #server: Server;
  readonly #target: URL;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((req, res) => void this.#carry(req, res));
  }

  static async to(target: string): Promise<LossyNetwork> {
    const network = new LossyNetwork(target);
    await new Promise<void>((resolve) => network.#server.listen(0, '127.0.0.1', resolve));
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The same link, through this network. */
  link(link: string): string {
    return link.replace(this.#target.origin, this.url);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #carry(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const passing = { method: req.method ?? '', path: req.url ?? '', body: body.toString('utf8') };
    this.seen.push(passing);
    const fate = await this.decide(passing);
    if (fate === 'cut') return void req.socket.destroy();
    const { host, hostname, port } = this.#target;
    const headers = { ...req.headers, host };
    const onward = request({ hostname, port, method: req.method, path: req.url, headers }, (answer) => {
      const back: Buffer[] = [];
      answer.on('data', (part: Buffer) => back.push(part));
      answer.on('end', () => {
        if (fate === 'lose') return void req.socket.destroy();
        if (fate === 'gateway') return void res.writeHead(503, { 'content-type': 'text/plain' }).end('upstream reset');
        let whole = Buffer.concat(back);
        // The server whose address this is names itself by it.
        if (passing.path === '/v1/invites/preview')
          whole = Buffer.from(whole.toString('utf8').replaceAll(this.#target.origin, this.url));
        res.writeHead(answer.statusCode ?? 0, { ...answer.headers, 'content-length': String(whole.length) });
        if (fate === 'halve') return void res.write(whole.subarray(0, whole.length / 2), () => req.socket.destroy());
        if (fate === 'spoil') whole[whole.length - 1]! ^= 1;
        res.end(whole);
      });
    });
    onward.on('error', () => req.socket.destroy());
    onward.end(body);
  }
}
