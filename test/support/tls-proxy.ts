/** A proxy that ends TLS in front of a team's server, as on a VPS: one that speaks HTTP, one that passes bytes on. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { fileURLToPath } from 'node:url';

const file = (name: string): string => fileURLToPath(new URL(`tls/${name}`, import.meta.url));

/** The certificate that clients have to trust; its key protects nothing. */
export const certificate = file('cert.pem');
const secrets = { cert: readFileSync(certificate), key: readFileSync(file('key.pem')) };

export interface TlsProxy {
  url: string;
  close(): Promise<void>;
}

/**
 * @param kind `http`: reads requests and passes them on, with the headers proxies add; `v1` and `v2`: passes bytes on
 *   after the PROXY protocol's preamble.
 */
export async function startTlsProxy(kind: 'http' | 'v1' | 'v2', port: () => number): Promise<TlsProxy> {
  const sockets = new Set<Socket>();
  const server: Server =
    kind === 'http' ? httpProxy(port) : createTls(secrets, (socket) => tunnel(socket, kind, port()));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const httpProxy = (port: () => number): Server =>
  createHttps(secrets, (req, res) => {
    const { method, url: path } = req;
    const headers = { ...req.headers, 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' };
    const onward = request({ port: port(), host: '127.0.0.1', method, path, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });

function tunnel(socket: Socket, version: 'v1' | 'v2', port: number): void {
  const onward = connect(port, '127.0.0.1');
  onward.write(version === 'v1' ? 'PROXY TCP4 203.0.113.7 127.0.0.1 40000 443\r\n' : binary);
  socket.pipe(onward).pipe(socket);
  for (const [one, other] of [
    [socket, onward],
    [onward, socket],
  ] as const)
    one.on('error', () => other.destroy());
}

/** Version 2: a connection from 203.0.113.7. */
const binary = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb0071077f0000019c4001bb', 'hex');
