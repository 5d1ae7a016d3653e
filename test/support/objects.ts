/** An object store in memory that speaks as much of the S3 protocol as the server uses, and is as strict as a true one. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Objects {
  endpoint: string;
  objects: Map<string, Buffer>;
  /** Methods and paths, as they came. */
  requests: string[];
  /** Keys of objects that may not be deleted. */
  locked: Set<string>;
  /** The next so many requests fail with 503. */
  busy: number;
  /** Requests of this method get no answer. */
  silent: string;
  /** What the second half of each object waits for. */
  half: Promise<void> | null;
  close(): Promise<void>;
}

export async function startObjects(): Promise<Objects> {
  const server = createServer((req, res) => void answer(store, req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const store: Objects = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: new Map(),
    requests: [],
    locked: new Set(),
    busy: 0,
    silent: '',
    half: null,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return store;
}

async function answer(store: Objects, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '', store.endpoint);
  store.requests.push(`${req.method} ${url.pathname}`);
  if (req.method === store.silent) return;
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const end = (status: number, content: string | Buffer = '', headers: Record<string, string> = {}) =>
    res.writeHead(status, { 'content-length': String(content.length), ...headers }).end(content);
  if (store.busy > 0) {
    store.busy--;
    return void end(503, '<Error><Code>SlowDown</Code></Error>');
  }
  const hash = createHash('sha256').update(body);
  const signed = /^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/us-east-1\/s3\/aws4_request, /.test(
    req.headers.authorization ?? '',
  );
  if (!signed || req.headers['x-amz-content-sha256'] !== hash.copy().digest('hex')) return void end(403);
  const key = url.pathname.replace(/^\/bucket\//, '');
  const found = store.objects.get(key);
  const modified = new Date().toUTCString();
  if (req.method === 'PUT') {
    if (req.headers['transfer-encoding'] !== undefined) return void end(411);
    if (req.headers['x-amz-checksum-sha256'] !== hash.digest('base64')) return void end(400);
    store.objects.set(key, body);
    return void end(200);
  }
  if (url.searchParams.get('list-type') === '2') return void end(200, listing(store, url));
  if (!found) return void end(404, req.method === 'HEAD' ? '' : '<Error><Code>NoSuchKey</Code></Error>');
  if (req.method === 'DELETE') {
    if (store.locked.has(key)) return void end(403, '<Error><Code>AccessDenied</Code></Error>');
    store.objects.delete(key);
    return void end(204);
  }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '') ?? [];
  if (req.method === 'HEAD')
    return void res.writeHead(200, { 'content-length': found.length, 'last-modified': modified }).end();
  if (from !== undefined) return void end(206, found.subarray(Number(from), Number(to) + 1));
  if (!store.half) return void end(200, found);
  const middle = Math.floor(found.length / 2);
  res.writeHead(200, { 'content-length': found.length }).write(found.subarray(0, middle));
  await store.half;
  res.end(found.subarray(middle));
}

/** One object to a page, so that the next one is asked for. */
function listing(store: Objects, url: URL): string {
  const keys = [...store.objects.keys()].filter((key) => key.startsWith(url.searchParams.get('prefix') ?? '')).sort();
  const after = (url.searchParams.get('continuation-token') ?? '').replace(/^<&>/, '');
  const [key, next] = keys.filter((each) => each > after);
  const size = store.objects.get(key ?? '')?.length;
  const content =
    key === undefined
      ? ''
      : `<Contents><Key>${key}</Key><LastModified>${new Date().toISOString()}</LastModified><Size>${size}</Size></Contents>`;
  const more = next === undefined ? '' : `<NextContinuationToken>&lt;&amp;&#62;${key}</NextContinuationToken>`;
  return `<?xml version="1.0"?><ListBucketResult>${content}${more}</ListBucketResult>`;
}
