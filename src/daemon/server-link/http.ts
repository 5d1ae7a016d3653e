/** HTTP to one server: keep-alive connections, a limit on their number, and a limit on the size of answers. */
import { type AgentOptions, Agent as PlainAgent, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { ClientError } from '../../client/errors.ts';
import type { Folders } from '../../local/folders.ts';
import { fetchBy, secureOptions } from '../../local/node-fetch.ts';
import { OwnAgent } from '../../local/own-server/own-agent.ts';
import { Semaphore } from './semaphore.ts';

/** Most connections for requests that the server answers without waiting. */
export const MAX_SOCKETS = 8;
/** Most long polls of seats without a person's stream; each occupies a connection, as the stream does. */
export const MAX_WAITS = 32;
const CONNECT_TIMEOUT_MS = 5_000;
/** For a whole request, to the last byte of its answer; the server's `wait` is not counted. */
export const REQUEST_TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface OriginHttp {
  /** For requests that the server answers without waiting. */
  fetch: typeof fetch;
  /** For the stream and long polls, which would use up the connections of other requests. */
  slowFetch: typeof fetch;
  close(): void;
}

/**
 * @param origin nothing is sent anywhere else through it.
 * @param ownFolders the folders of this machine, where its own server is to prove that it is.
 */
export function originHttp(origin: string, ownFolders: Folders | null): OriginHttp {
  const secure = origin.startsWith('https:');
  const agentOf = (options: AgentOptions): PlainAgent => {
    if (ownFolders) return new OwnAgent(ownFolders, options);
    return secure ? new SecureAgent({ ...options, ...secureOptions() }) : new PlainAgent(options);
  };
  const quick = agentOf({ keepAlive: true, maxFreeSockets: MAX_SOCKETS });
  const slow = agentOf({ keepAlive: true, maxSockets: MAX_WAITS + 1, maxFreeSockets: 2 });
  // An agent does not count connections whose server has not proven its identity yet.
  const connections = new Semaphore(MAX_SOCKETS);
  const send = (secure ? secureRequest : plainRequest) as typeof plainRequest;
  const fetchWith = (agent: PlainAgent, acquire?: Semaphore['acquire']): typeof fetch => {
    return async (input, init) => {
      const url = new URL(String(input));
      if (url.origin !== origin) throw new TypeError(`nothing is sent to ${url.origin} through ${origin}`);
      const request = withConnectTimeout(send, secure, await acquire?.(init?.signal));
      return fetchBy(request, url, init ?? {}, { agent, maxBytes: MAX_ANSWER_BYTES });
    };
  };
  return {
    fetch: fetchWith(quick, (signal) => connections.acquire(signal)),
    slowFetch: fetchWith(slow),
    close: () => {
      quick.destroy();
      slow.destroy();
    },
  };
}

/** A `request` that fails when it is not connected in time. @param onClose called when the request has ended */
function withConnectTimeout(
  send: typeof plainRequest,
  secure: boolean,
  onClose: () => void = () => {},
): typeof plainRequest {
  return ((url: URL, options: RequestOptions, answered: Parameters<typeof plainRequest>[2]) => {
    const sent = send(url, options, answered).once('close', onClose);
    sent.once('socket', (socket: Socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => sent.destroy(connectTimeout()), CONNECT_TIMEOUT_MS);
      const stopTimer = () => clearTimeout(timer);
      socket.once(secure ? 'secureConnect' : 'connect', stopTimer);
      sent.once('close', stopTimer);
    });
    return sent;
  }) as typeof plainRequest;
}

/** The code tells the client that the request was never sent. */
const connectTimeout = (): Error =>
  Object.assign(new Error('no connection within 5 s'), { code: 'UND_ERR_CONNECT_TIMEOUT' });

/** Whether an answer was refused for its size. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ClientError && error.code === 'response_too_large';
