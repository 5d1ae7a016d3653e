/** The HTTP server around the app: what is set on the platform's own. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { operations } from '../../contract/operations.ts';
import { createApp } from './app.ts';
import { askLater } from './body/upload.ts';
import { expectPreambles } from './connection/proxy-protocol.ts';
import { rawRefusal } from './connection/raw.ts';
import type { AppOptions } from './context.ts';
import { tellRefusals } from './refusals.ts';

interface HttpOptions extends Omit<AppOptions, 'tellRefused'> {
  /** Peers on the server's own network are proxies that tell whom a connection comes from. */
  proxyProtocol: boolean;
}

/**
 * So many bytes may be kept for requests of one connection that wait for their turn; one that needs more ends it. To read no
 * more from it instead would let Node.js end it as one whose next request comes too slowly.
 */
const MOST_WAITING = 4_194_304;

/** What is kept of a request: its head, its body as far as Node.js reads ahead, and the objects that Node.js makes for it. */
function bytesOf({ url = '', headers, rawHeaders, readableHighWaterMark }: IncomingMessage): number {
  const body = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
  const head = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  return 4_096 + head + Math.min(body, readableHighWaterMark);
}

export function createHttp({ proxyProtocol, ...options }: HttpOptions): Server {
  const { clock, log, site } = options;
  const serve = createApp({ ...options, tellRefused: tellRefusals(log, clock) });
  const answers = new WeakMap<Duplex, ServerResponse>();
  const waiting = new WeakMap<Duplex, number>();
  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    // Sent behind another request of its connection, it is served once that is answered.
    if (!res.socket) {
      const { socket } = req;
      const bytes = bytesOf(req);
      const all = (waiting.get(socket) ?? 0) + bytes;
      if (all > MOST_WAITING) return void socket.destroy();
      waiting.set(socket, all);
      return void res.once('socket', () => {
        waiting.set(socket, waiting.get(socket)! - bytes);
        handle(req, res);
      });
    }
    answers.set(req.socket, res);
    void serve(req, res);
  };
  const server = createServer(
    {
      requireHostHeader: false,
      maxHeaderSize: 65_536,
      noDelay: true,
      keepAlive: true,
      connectionsCheckingInterval: 1000,
    },
    handle,
  );
  server.headersTimeout = 10_000;
  server.requestTimeout = 0;
  server.keepAliveTimeout = 65_000;
  // Nothing is silent so long, unless its client does not read: a wait ends after 10 minutes, a stream speaks every 25 s.
  server.timeout = 900_000;
  server.on('checkContinue', (req, res) => {
    if (isUpload(req)) askLater(req);
    else res.writeContinue();
    handle(req, res);
  });
  // An expectation this server does not know is no reason not to answer.
  server.on('checkExpectation', handle);
  const answering = (socket: Duplex): boolean => {
    const answer = answers.get(socket);
    return answer?.headersSent === true && !answer.writableFinished;
  };
  server.on('clientError', rawRefusal(site.mode, clock, answering));
  if (proxyProtocol) expectPreambles(server, { clock, wrong: onceLoud(log) });
  return server;
}

const upload = operations.uploadFile;
const uploadPath = new RegExp(`^${upload.path.replaceAll(/\{[a-z]+\}/g, '[^/?]+')}(?:\\?|$)`);
const isUpload = ({ method, url }: IncomingMessage): boolean => method === upload.method && uploadPath.test(url ?? '');

/** What is set up wrong is said once; somebody who knocks again and again does not fill the log. */
function onceLoud(log: Logger): (peer: string) => void {
  let said = false;
  return (peer) => {
    log[said ? 'debug' : 'warn'](
      { peer },
      'a connection without the PROXY protocol was closed: does the proxy send it?',
    );
    said = true;
  };
}
