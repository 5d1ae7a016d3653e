/** HTTP by hand, for what no client would send. */
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { until } from './until.ts';

export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  text: string;
  /** The error's code, if the body is an error. */
  code: string | undefined;
}

type Ways = Pick<TcpNetConnectOpts, 'allowHalfOpen'>;

export function open(url: string, ways: Ways = {}): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), ...ways });
}

/** Opens a connection of which the server's end is known, as a client in this process would not be. */
export async function bothEnds(url: string, ways: Ways = {}): Promise<{ client: Socket; serverEnd: Socket }> {
  let serverEnd: Socket | undefined;
  const client = open(url, ways);
  const noteSocket = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.remotePort === client.localPort) serverEnd = socket;
  };
  diagnostics.subscribe('net.server.socket', noteSocket);
  await once(client, 'connect');
  await until(() => serverEnd !== undefined, 'the server has taken the connection');
  diagnostics.unsubscribe('net.server.socket', noteSocket);
  return { client, serverEnd: serverEnd! };
}

/** Sends bytes and reads until the server closes the connection; what is sent has to ask for that. */
export function exchange(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = open(url);
    const chunks: Buffer[] = [];
    let failure: Error | null = null;
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A server may close while the client still sends; what counts is whether its answer arrived.
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      if (text === '') reject(failure ?? new Error('no answer'));
      else resolve(parse(text));
    });
    socket.write(bytes);
  });
}

/** A request line and headers, ended by an empty line; `Connection: close` is added. */
export const lines = (...all: string[]): string => `${[...all, 'Connection: close'].join('\r\n')}\r\n\r\n`;

/** The answer in what a connection brought; an interim one before it is left out. */
export function parse(text: string): RawAnswer {
  const [head = '', body = ''] = split(text);
  if (head.startsWith('HTTP/1.1 100 ')) return parse(body);
  const [first = '', ...rest] = head.split('\r\n');
  const headers = new Map(
    rest.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
  return { status: Number(first.split(' ')[1]), headers, text: body, code: codeOf(body) };
}

function split(text: string): [string, string] {
  const at = text.indexOf('\r\n\r\n');
  return [text.slice(0, at), text.slice(at + 4)];
}

function codeOf(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { error?: { code: string } }).error?.code;
  } catch {
    return undefined;
  }
}
