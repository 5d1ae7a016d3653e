/** HTTP to one server: connections that stay open, few of them, and answers of a bounded size. */
import { type AgentOptions, Agent as PlainAgent, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { ClientError } from '../../client/errors.ts';
import type { Folders } from '../../local/folders.ts';
import { fetchBy } from '../../local/own-server/loopback-fetch.ts';
import { OwnAgent } from '../../local/own-server/own-agent.ts';
import { Slots } from './slots.ts';

/** Connections for requests that are answered at once. */
export const MAX_SOCKETS = 8;
/** Waits of seats without a person's stream; each holds a connection, as the stream does. */
export const MAX_WAITS = 32;
const CONNECT_MS = 5_000;
/** One request from its beginning to its last byte, the server's `wait` apart. */
export const TOTAL_MS = 15_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface OriginHttp {
  /** Requests that are answered at once. */
  fetch: typeof fetch;
  /** The stream and waits, which would keep the others from their connections. */
  slowFetch: typeof fetch;
  close(): void;
}

/**
 * @param origin nothing is sent anywhere else through it.
 * @param own the folders of this machine, where its own server is to prove that it is.
 */
export function originHttp(origin: string, own: Folders | null): OriginHttp {
  const secure = origin.startsWith('https:');
  const agentOf = (options: AgentOptions): PlainAgent => {
    if (own) return new OwnAgent(own, options);
    return secure ? new SecureAgent(options) : new PlainAgent(options);
  };
  const quick = agentOf({ keepAlive: true, maxFreeSockets: MAX_SOCKETS });
  const slow = agentOf({ keepAlive: true, maxSockets: MAX_WAITS + 1, maxFreeSockets: 2 });
  // An agent does not count connections that are still being proved.
  const slots = new Slots(MAX_SOCKETS);
  const via = (secure ? secureRequest : plainRequest) as typeof plainRequest;
  const by = (agent: PlainAgent, take?: Slots['take']): typeof fetch => {
    return async (input, init) => {
      const url = new URL(String(input));
      if (url.origin !== origin) throw new TypeError(`nothing is sent to ${url.origin} through ${origin}`);
      const request = limited(via, secure, await take?.(init?.signal));
      return fetchBy(request, url, init ?? {}, { agent, maxBytes: MAX_ANSWER_BYTES });
    };
  };
  return {
    fetch: by(quick, (signal) => slots.take(signal)),
    slowFetch: by(slow),
    close: () => {
      quick.destroy();
      slow.destroy();
    },
  };
}

/** `request` with a limit on connecting: a connection that does not stand by then is given up. @param over once it ended */
function limited(via: typeof plainRequest, secure: boolean, over: () => void = () => {}): typeof plainRequest {
  return ((url: URL, options: RequestOptions, answered: Parameters<typeof plainRequest>[2]) => {
    const sent = via(url, options, answered).once('close', over);
    sent.once('socket', (socket: Socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => sent.destroy(slowToConnect()), CONNECT_MS);
      const settled = () => clearTimeout(timer);
      socket.once(secure ? 'secureConnect' : 'connect', settled);
      sent.once('close', settled);
    });
    return sent;
  }) as typeof plainRequest;
}

/** Known by its code as a request that never left. */
const slowToConnect = (): Error =>
  Object.assign(new Error('no connection within 5 s'), { code: 'UND_ERR_CONNECT_TIMEOUT' });

/** Whether an answer was refused for its size. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ClientError && error.code === 'response_too_large';
