/**
 * `fetch` for the server on this machine. The platform's own takes longer to load than all else a short command does,
 * and its compiler threads hold up the end of the process; this has the part of it that the client uses.
 */
import type { IncomingMessage, RequestOptions } from 'node:http';

/** Plain http to this machine goes the short way, everything else through the platform's `fetch`. */
export const localFetch: typeof fetch = async (input, init) => {
  const url = new URL(String(input));
  if (url.protocol !== 'http:' || url.hostname !== '127.0.0.1') return fetch(input, init);
  const { method, signal, body } = init ?? {};
  const options: RequestOptions = { method, headers: init?.headers as Record<string, string> };
  if (signal) options.signal = signal;
  const answer = await send(url, options, body as string | undefined);
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    answer.destroy();
    throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
  }
  return asResponse(answer, status);
};

async function send(url: URL, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request(url, options, resolve);
    sent.on('error', (cause: Error) => {
      // Whether anything was written decides whether a repeat is safe.
      const socket = { bytesWritten: sent.socket?.bytesWritten ?? 0 };
      reject(new TypeError('fetch failed', { cause: Object.assign(cause, { socket }) }));
    });
    sent.end(body);
  });
}

/** Status, headers and the bytes of the body: what the client reads of an answer. */
function asResponse(answer: IncomingMessage, status: number): Response {
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const headers = {
    get: (name: string) => {
      const value = answer.headers[name.toLowerCase()];
      return value === undefined ? null : String(value);
    },
  };
  const text = async () => {
    const parts: Uint8Array[] = [];
    for await (const part of answer) parts.push(part as Uint8Array);
    return Buffer.concat(parts).toString('utf8');
  };
  return {
    ok: status >= 200 && status < 300,
    status,
    headers,
    body: { getReader: () => ({ read: () => readNext(chunks) }) },
    text,
    json: async () => JSON.parse(await text()),
  } as unknown as Response;
}

async function readNext(chunks: AsyncIterator<Uint8Array>) {
  try {
    const { done, value } = await chunks.next();
    return { done: done === true, value };
  } catch (cause) {
    // The answer broke off: in the words of the platform's fetch, so that it is understood like one of its errors.
    throw new TypeError('terminated', { cause });
  }
}
