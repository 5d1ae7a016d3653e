/** A client that chooses what others leave to the platform: the host it names, the address it comes from, its first bytes. */
import type { RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Api } from './api.ts';

export interface Wire {
  port: number;
  /** The server's origin; default: the address itself. */
  url?: string | undefined;
  /** A loopback address such as 127.0.0.2 to come from. */
  from?: string | undefined;
  /** Bytes a connection begins with. */
  preamble?: string | Buffer | undefined;
}

export class WireApi extends Api {
  readonly wire: Wire;

  constructor(wire: Wire, token?: string) {
    super(wire.url ?? `http://127.0.0.1:${wire.port}`, token);
    this.wire = wire;
  }

  override connection(): RequestOptions {
    return { createConnection: () => this.#connect() };
  }

  #connect(): Socket {
    const { port, from, preamble } = this.wire;
    const socket = connect({ port, host: '127.0.0.1', ...(from === undefined ? {} : { localAddress: from }) });
    if (preamble !== undefined) socket.write(preamble);
    return socket;
  }
}
