/** Calls to a server over `node:http`, with everything a test of faults looks at: bytes, headers, the socket itself. */
import { type Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Call {
  url: string;
  method?: string;
  path: string;
  token: string;
  body?: string;
  key?: string;
  agent?: Agent;
  onRequest?(request: ClientRequest): void;
}

/** One request. Rejects when the connection fails before the whole answer is there. */
export function call({ url, method = 'GET', path, token, body, key, agent, onRequest }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
    if (body !== undefined) {
      headers['Content-Type'] = 'application/json';
      headers['Content-Length'] = String(Buffer.byteLength(body));
    }
    if (key !== undefined) headers['Idempotency-Key'] = key;
    const sent = request(url + path, { method, agent, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        if (!res.complete) return reject(new Error('the answer was cut off'));
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject);
    onRequest?.(sent);
    sent.end(body);
  });
}

/** A call that has to succeed; answers its JSON. */
export async function must<T>(options: Call): Promise<T> {
  const { status, body } = await call(options);
  if (status < 200 || status > 299) throw new Error(`${options.method ?? 'GET'} ${options.path}: ${status} ${body}`);
  return JSON.parse(body) as T;
}
