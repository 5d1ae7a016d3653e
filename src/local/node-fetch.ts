/**
 * A minimal `fetch` by Node.js's own HTTP. For the server on this machine, because the platform's takes longer to load than the rest of
 * a short command, and its WebAssembly compiler threads delay the exit; for servers elsewhere where the environment names a proxy or
 * further certificates, because the platform's takes neither.
 */
import { readFileSync } from 'node:fs';
// Not by import(): that reads every export of the module, and one of them loads the platform's fetch.
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { Agent, AgentOptions } from 'node:https';
import { Readable } from 'node:stream';
import { type ClientError, tooLarge } from '../client/errors.ts';
import { networkError } from '../client/network.ts';
import { olderThan } from './versions.ts';

/** Uses this `fetch` for those, and the platform's for everything else. */
export const localFetch: typeof fetch = async (input, init) => {
  const url = new URL(String(input));
  if (url.protocol === 'http:' && url.hostname === '127.0.0.1') return fetchBy(request, url, init ?? {});
  if (url.protocol !== 'https:') return fetch(input, init);
  const agent = agentOfEnvironment();
  const via = process.getBuiltinModule('node:https').request as typeof request;
  const answer = agent === null ? fetch(input, init) : fetchBy(via, url, init ?? {}, { agent });
  return answer.catch((error: unknown) => {
    throw hasUnusedProxy(url) ? pastProxy(error, url.origin) : error;
  });
};

/** Whether a proxy is named for this server that connections go past. */
function hasUnusedProxy(server: URL): boolean {
  const named = proxyNamed();
  return !!named && !(isProxy(named) && takesProxies(process.versions.node)) && !goesDirect(server);
}

/** Whether this server needs no proxy, as Node.js reads it, but for ranges of addresses. */
const goesDirect = ({ host, hostname }: URL): boolean =>
  directHosts()
    .toLowerCase()
    .split(',')
    .map((entry) => entry.trim().replace(/^\*\./, '.'))
    .some(
      (entry) => ['*', host, hostname].includes(entry) || (entry.startsWith('.') && `.${hostname}`.endsWith(entry)),
    );

/** With a certificate or an answer the server was reached. */
function pastProxy(error: unknown, origin: string): ClientError {
  const failure = networkError(error, origin);
  const hint = 'The proxy that HTTPS_PROXY names is not used; service doctor says why.';
  return failure.transient || failure.details?.['cause'] === 'ENOTFOUND' ? Object.assign(failure, { hint }) : failure;
}

/** How long a server elsewhere may take to ask for a body. */
const CONTINUE_MS = 3_000;

let remote: { agent: Agent | null } | null = null;

/** The connections of this process to servers elsewhere; null where they need no agent of ours. */
function agentOfEnvironment(): Agent | null {
  if (remote) return remote.agent;
  const options = secureOptions();
  const { Agent } = process.getBuiltinModule('node:https');
  remote = { agent: Object.keys(options).length === 0 ? null : new Agent({ keepAlive: true, ...options }) };
  return remote.agent;
}

const proxyNamed = (): string | undefined => process.env.https_proxy || process.env.HTTPS_PROXY;

/** The servers that need no proxy. */
const directHosts = (): string =>
  [process.env.no_proxy || process.env.NO_PROXY, 'localhost', '127.0.0.1', '[::1]'].filter(Boolean).join(',');

/** What the environment says about https connections: the proxy of other machines, and further certificates to trust. */
export function secureOptions(): AgentOptions {
  const named = proxyNamed();
  const proxy = named && isProxy(named) ? named : null;
  const ca = furtherCertificates(process.env.SSL_CERT_FILE);
  return { ...(proxy ? { proxyEnv: { HTTPS_PROXY: proxy, NO_PROXY: directHosts() } } : {}), ...(ca ? { ca } : {}) };
}

/** Whether this version of Node.js takes proxies: older ones connect directly, without a word. */
export const takesProxies = (version: string): boolean =>
  !olderThan(version, '22.21.0') && (olderThan(version, '23.0.0') || !olderThan(version, '24.5.0'));

/** Whether this is the address of a proxy. With some other texts every request of Node.js fails. */
export function isProxy(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return /^https?:$/.test(protocol);
  } catch {
    return false;
  }
}

/** With those that Node.js trusts anyway; null where there are none. A file that cannot be read adds nothing. */
function furtherCertificates(file: string | undefined): string[] | null {
  if (!file) return null;
  try {
    return [...process.getBuiltinModule('node:tls').getCACertificates(), readFileSync(file, 'utf8')];
  } catch {
    return null;
  }
}

/**
 * One request through Node.js's own HTTP. Redirects are refused.
 *
 * @param via `request` of `node:http` or `node:https`
 * @param connection options of the request beside method and headers, such as the agent; with `maxBytes` reading a larger
 *   answer fails, unless it is a stream of events.
 */
export async function fetchBy(
  via: typeof request,
  url: URL,
  init: RequestInit,
  { maxBytes, ...connection }: RequestOptions & { maxBytes?: number } = {},
): Promise<Response> {
  const answer = await send(via, url, init, connection);
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    answer.destroy();
    throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
  }
  return asResponse(answer, status, maxBytes);
}

function send(
  via: typeof request,
  url: URL,
  { method, headers, body, signal }: RequestInit,
  connection: RequestOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const streamed = body instanceof ReadableStream ? { Expect: '100-continue' } : {};
    const all = { ...(headers as Record<string, string>), ...streamed };
    const sent = via(url, { ...connection, method, headers: all }, (arrived) => {
      answer = arrived;
      // The reader gets the error; after the last byte there is none.
      arrived.on('error', () => {});
      resolve(arrived);
    });
    sent.on('error', (cause: Error) => {
      // Whether anything was written decides whether a repeat is safe.
      const socket = { bytesWritten: sent.socket?.bytesWritten ?? 0 };
      reject(new TypeError('fetch failed', { cause: Object.assign(cause, { socket }) }));
    });
    // A connection whose answer is complete serves the next request and must stay whole.
    const stop = () => (answer?.complete ? undefined : (answer ?? sent).destroy(new Error('aborted')));
    signal?.addEventListener('abort', stop, { once: true });
    if (!(body instanceof ReadableStream)) {
      sent.end(body as string | undefined);
      return;
    }
    // `Expect: 100-continue`: a server can then refuse the body before it is sent, instead of cutting the connection.
    sent.once('continue', () =>
      Readable.fromWeb(body as never)
        .on('error', (error) => sent.destroy(error))
        .pipe(sent),
    );
    sent.flushHeaders();
    // What stands before a server elsewhere may not know it and wait for the body.
    if (url.protocol !== 'https:') return;
    const unheard = setTimeout(() => sent.emit('continue'), CONTINUE_MS);
    for (const event of ['continue', 'response', 'close']) sent.once(event, () => clearTimeout(unheard));
  });
}

/** An object with the part of `Response` that the client uses, because the real class would load Node's `fetch`. */
function asResponse(answer: IncomingMessage, status: number, maxBytes?: number): Response {
  const endless = /^text\/event-stream/.test(answer.headers['content-type'] ?? '');
  const whole = bytesOf(answer);
  const body = maxBytes === undefined || endless ? whole : whole.pipeThrough(limitedTo(maxBytes));
  const headers = {
    get: (name: string) => {
      const value = answer.headers[name.toLowerCase()];
      return value === undefined ? null : String(value);
    },
  };
  const text = async () => {
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    return Buffer.concat(parts).toString('utf8');
  };
  const ok = status >= 200 && status < 300;
  return { ok, status, headers, body, text, json: async () => JSON.parse(await text()) } as unknown as Response;
}

/**
 * The body of an answer. It must be read to its end or cancelled, or it keeps its connection: reading ahead would lose what had
 * come before a break. `Readable.toWeb` would throw, where nobody can catch it, at bytes that come after a cancel.
 */
function bytesOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces = answer[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void answer.destroy(),
  });
}

function limitedTo(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > maxBytes) controller.error(tooLarge(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}
