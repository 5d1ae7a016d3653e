/**
 * Sending stored bytes: always to be saved, never to be shown, whatever they are; and to be cut off when who reads
 * them may not any more.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { Refusal } from '../../../contract/errors.ts';
import { isPassing } from '../../db/dialect.ts';
import type { Sendable } from '../../operation/usecase.ts';
import { prepareHead, sendBody } from '../answer.ts';
import type { AppOptions, Context } from '../context.ts';
import { hasAlready, wantedOf } from './ranges.ts';

/** Up to this many bytes are sent only when they are known to be what was stored. */
const HELD_BACK = 1_048_576;
/** A reader that takes nothing for this long is cut off; it can go on from there. Milliseconds. */
const STALLED_MS = 300_000;

/** Takes over the response. @throws Refusal `range_not_satisfiable`, and whatever `open` throws, before the first byte. */
export async function sendBytes(ctx: Context, sendable: Sendable, { log, clock }: AppOptions): Promise<void> {
  const { req, res } = ctx;
  const { digest, size } = sendable;
  const etag = `"${digest}"`;
  if (hasAlready(req.headers, etag)) return void sendBody(ctx, 304, headersOf(sendable, etag));
  const wanted = req.method === 'HEAD' ? 'all' : wantedOf(req.headers, etag, size);
  if (wanted === 'unsatisfiable') throw unsatisfiable(size);
  const range = wanted === 'all' ? null : wanted;
  const length = range ? range.end - range.start + 1 : size;
  const headers = {
    ...headersOf(sendable, etag),
    'Content-Type': withCharset(sendable.mediaType),
    'Content-Disposition': `attachment; filename="${sendable.fileName}"`,
    'Content-Length': String(length),
    ...(range ? { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` } : {}),
  };
  if (req.method === 'HEAD' || length === 0) return void sendBody(ctx, 200, headers);
  const { start, end: last } = range ?? { start: 0, end: size - 1 };
  // A client that resumes a download asks for its end, and must get the same headers as for all of it.
  const checked = size <= HELD_BACK || last === size - 1;
  const source = await opened(sendable, checked ? null : range, log);
  // What can be held back is sent only if it is what was stored; of the rest the last piece is.
  const held = checked && length <= HELD_BACK ? await wholeOf(source, sendable, { start, end: last }, log) : null;
  const status = range ? 206 : 200;
  if (held) return void sendBody(ctx, status, headers, held);
  prepareHead(ctx);
  res.writeHead(status, headers);
  // What is skipped is read and checked too, which may take longer than a client waits for headers.
  res.flushHeaders();
  // Cut off at once: what waits in the socket does not go out either.
  const cut = (): void => {
    source.destroy();
    res.destroy();
  };
  const unwatch = sendable.watch(cut);
  res.once('close', cut);
  try {
    const drained = () => drain(res, clock);
    await pass(ctx, source, drained, checked ? { skip: start, length, digest } : { skip: 0, length, digest: null });
  } catch (error) {
    if (!res.destroyed) log.error({ err: error, digest }, wordFor(error));
    cut();
  } finally {
    unwatch();
  }
}

async function opened({ digest, open }: Sendable, range: { start: number; end: number } | null, log: Logger) {
  try {
    return await open(range ?? undefined);
  } catch (error) {
    if (isPassing(error)) throw error;
    log.error({ err: error, digest }, wordFor(error));
    throw isMissing(error) ? bytesLost(digest, 'missing from its store', error) : storeDown(error);
  }
}

/** A part of a file, all of which is read and checked. @throws Refusal `unavailable` where it is not what was stored. */
async function wholeOf(
  source: Readable,
  { digest, size }: Sendable,
  { start, end: last }: { start: number; end: number },
  log: Logger,
): Promise<Buffer> {
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let at = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      hash.update(chunk);
      const part = chunk.subarray(Math.max(0, start - at), Math.max(0, last + 1 - at));
      // An empty part would keep its whole chunk in memory.
      if (part.length > 0) kept.push(part);
      at += chunk.length;
      if (at > size) break;
    }
  } catch (error) {
    if (isPassing(error)) throw error;
    log.error({ err: error, digest }, 'store_unusable');
    throw storeDown(error);
  }
  if (`sha256:${hash.digest('hex')}` === digest) return Buffer.concat(kept);
  log.error({ digest }, 'blob_corrupt');
  throw bytesLost(digest, 'damaged in its store');
}

const bytesLost = (digest: string, how: string, cause?: unknown): Refusal =>
  new Refusal('unavailable', `The bytes of this version are ${how}, so nothing was sent.`, {
    hint: 'The operator of the server finds them with service doctor, and can bring them back from a copy.',
    details: { digest },
    retryAfter: 1,
    cause,
  });

const storeDown = (cause: unknown): Refusal =>
  new Refusal('unavailable', 'The server cannot read files right now.', {
    hint: 'Tell the operator of the server: its log says why, and service doctor looks for it.',
    retryAfter: 1,
    cause,
  });

const headersOf = ({ headers }: Sendable, etag: string): Record<string, string> => ({
  ...headers,
  'Accept-Ranges': 'bytes',
  ETag: etag,
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'private, no-cache',
  Vary: 'Authorization, Cookie',
});

const withCharset = (type: string): string =>
  type.startsWith('text/') && !/;\s*charset=/i.test(type) ? `${type}; charset=utf-8` : type;

const unsatisfiable = (size: number): Refusal =>
  new Refusal('range_not_satisfiable', `There are ${size} bytes, and none of them in this range.`, {
    hint: 'Ask for a range within them, or for all of them without Range.',
    details: { size },
    headers: { 'Content-Range': `bytes */${size}` },
  });

/** The bytes are not those that were stored. */
class Corrupt extends Error {}

const isMissing = (error: unknown): boolean => (error as Error).name === 'BlobMissing';

/** What the log says of bytes that were not sent: only a store that answers can tell that it has lost some. */
function wordFor(error: unknown): 'blob_corrupt' | 'blob_missing' | 'store_unusable' {
  if (error instanceof Corrupt) return 'blob_corrupt';
  return isMissing(error) ? 'blob_missing' : 'store_unusable';
}

interface Passed {
  /** Bytes ahead of those that are sent. */
  skip: number;
  length: number;
  /** Of all that comes; null: of a part from the middle, which cannot be checked. */
  digest: string | null;
}

/**
 * Passes on what comes, as fast as the reader takes it. The last piece of a file goes out only when all of it turned out
 * to be what was stored.
 */
async function pass(
  { res }: Context,
  source: Readable,
  drained: () => Promise<void>,
  { skip, length, digest }: Passed,
): Promise<void> {
  const hash = digest === null ? null : createHash('sha256');
  let ahead = skip;
  let left = skip + length;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    left -= chunk.length;
    hash?.update(chunk);
    if (left < 0) break;
    if (left === 0 && hash && `sha256:${hash.digest('hex')}` !== digest) break;
    const wanted = chunk.subarray(Math.min(ahead, chunk.length));
    ahead -= chunk.length - wanted.length;
    if (left === 0) return void res.end(wanted);
    if (wanted.length > 0 && !res.write(wanted)) await drained();
    if (res.destroyed) return;
  }
  throw new Corrupt('the stored bytes are not those of the version');
}

/** Waits until the reader has taken what was sent to it, or is gone. */
async function drain(res: Context['res'], clock: AppOptions['clock']): Promise<void> {
  if (res.destroyed) return;
  const stop = new AbortController();
  const { signal } = stop;
  const cancel = clock.after(STALLED_MS, () => res.destroy());
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]).finally(() => stop.abort());
  cancel();
}
