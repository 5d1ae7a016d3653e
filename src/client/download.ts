/** Downloads the bytes of a version, over as many connections as necessary. */
import { MAX_FILE } from '../contract/values.ts';
import type { Client } from './client.ts';
import { ClientError, unexpected } from './errors.ts';
import { BODY_IDLE_TIMEOUT } from './limits.ts';
import { retrying } from './retry.ts';

/** Receives the bytes. */
export interface Sink {
  write(chunk: Uint8Array): Promise<void> | void;
  /** Discards what was written so far: the download starts again. */
  restart(): Promise<void> | void;
}

export interface Downloaded {
  fileId: string;
  version: number;
  size: number;
  /** Digest of the complete content according to the server: `sha256:` and hex. */
  digest: string;
  mediaType: string;
}

/**
 * Reads a version into a sink. After a broken connection it continues at the same offset, if the content is unchanged, for as
 * long as that brings more of it. The caller must compare the digest.
 *
 * @param onProgress called with the bytes so far and in total
 * @throws ClientError as `call` does, and `response_too_large`.
 */
export async function download(
  client: Client,
  params: Record<string, string | number>,
  sink: Sink,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Downloaded> {
  let from = 0;
  let etag: string | null = null;
  let most = 0;
  const plan = {
    klass: 'read' as const,
    deadline: Number.POSITIVE_INFINITY,
    longestDelay: client.timeoutMs,
    gotFurther() {
      const further = from > most;
      most = Math.max(most, from);
      return further;
    },
  };
  return retrying(client.environment, plan, async (attempt) => {
    const exchange = await client.openBytes(params, { from, etag, attempt });
    const { response } = exchange;
    if (response.status !== 206 && from > 0) {
      await sink.restart();
      from = 0;
    }
    etag = response.headers.get('etag');
    const left = announcedLength(response);
    const limit = from + (left ?? MAX_FILE - from);
    if (limit > MAX_FILE) {
      exchange.close();
      throw tooMuch();
    }
    const reportProgress = () => onProgress(from, left === null ? from : limit);
    reportProgress();
    for await (const chunk of exchange.chunks(BODY_IDLE_TIMEOUT, 'body')) {
      if (from + chunk.length > limit) throw tooMuch();
      await sink.write(chunk);
      from += chunk.length;
      reportProgress();
    }
    if (left !== null && from < limit) throw cutShort();
    return { ...parseHeaders(response), size: from };
  });
}

/** How many bytes follow; null if the answer does not say, or gives the compressed size. */
function announcedLength({ headers }: Response): number | null {
  const length = headers.get('content-length');
  return length === null || headers.get('content-encoding') !== null ? null : Number(length);
}

const tooMuch = (): ClientError =>
  new ClientError('response_too_large', 'The server sends more bytes than it announced, or than a file may have.', {
    hint: 'Nothing of it was kept. The operator of the server can check its stored files with service storage check',
    details: { limit: MAX_FILE },
    delivery: 'answered',
  });

const cutShort = (): ClientError =>
  new ClientError('server_unreachable', 'The connection broke before all bytes had come.', {
    hint: 'Get it again.',
    delivery: 'answered',
    transient: true,
  });

function parseHeaders(response: Response): Omit<Downloaded, 'size'> {
  const header = (name: string): string => response.headers.get(name) ?? '';
  // A proxy that packs the bytes makes the tag a weak one.
  const [, digest] = /^(?:W\/)?"(sha256:[0-9a-f]{64})"$/.exec(header('etag')) ?? [];
  const version = Number(header('x-service-file-version'));
  if (digest === undefined || !Number.isSafeInteger(version) || version < 1)
    throw unexpected('The answer does not say which version it is.', { status: response.status });
  return { fileId: header('x-service-file-id'), version, digest, mediaType: header('content-type') };
}
