/** Uploads files with XMLHttpRequest, because fetch reports no upload progress. */
import { ClientError } from '../../client/errors.ts';
import type { BoardFile } from '../../contract/types.ts';
import { MAX_FILE } from '../../contract/values.ts';
import { renewCsrfToken } from '../api/client.ts';
import { endsSession } from '../api/errors.ts';
import { clearSession, session } from '../api/session.ts';
import { formatNumber } from '../parts/number.ts';
import { attempt } from '../state/attempts.ts';

/** The query parameters of an upload: the name of the file and the version that it replaces. */
export interface UploadTarget {
  name: string;
  base?: number;
  file_id?: string;
  brief?: boolean;
  /** Switches the brief between Markdown and HTML. */
  replace_format?: boolean;
  maintained?: boolean;
}

/** Turns the name of a local file into one that the server accepts. Of a name in another script, the ending is left. */
export const toFileName = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^-[-_.]*(?=\.[^.]+$)/, 'file')
    .slice(-200)
    .replace(/^[^A-Za-z0-9]+/, '') || 'file';

interface UploadOptions {
  /** The idempotency key; reuse it while the outcome is unknown. */
  key: string;
  signal?: AbortSignal;
  /** Called with the number of bytes sent so far. */
  onProgress?(sent: number): void;
}

/** Longest time in which nothing of an upload moves: a silent network ends no connection. */
const SILENCE_MS = 60_000;
/**
 * Longest time from when all of it seems sent to the answer. What the system and proxies took may go on for minutes on a
 * slow network, of which nothing is told.
 */
const ANSWER_MS = 5 * 60_000;

/**
 * Uploads a new file, or a new version of one.
 *
 * @throws ClientError with the server's code, `file_too_large` before anything is sent, or `server_unreachable`, also
 * where nothing moves any more; the signal's reason when cancelled
 */
export async function sendFile(
  board: string,
  bytes: Blob,
  where: UploadTarget,
  sending: UploadOptions,
): Promise<BoardFile> {
  if (bytes.size > MAX_FILE)
    throw new ClientError(
      'file_too_large',
      `This file has ${formatNumber(bytes.size)} bytes; a file may have ${formatNumber(MAX_FILE)}. Nothing was sent.`,
      { hint: 'Put it elsewhere and post the link.' },
    );
  const digest = await contentDigest(bytes);
  sending.signal?.throwIfAborted();
  try {
    return await send(board, bytes, where, digest, sending);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code === 'csrf_token_invalid' && (await renewCsrfToken()))
      return send(board, bytes, where, digest, sending);
    if (endsSession(error)) clearSession('Your session has ended. Sign in again.');
    throw error;
  }
}

/** Uploads a file that the person has chosen, as `sendFile` does: with the key of before if that may have been stored. */
export function sendOnce(
  board: string,
  file: File,
  where: UploadTarget,
  sending: Omit<UploadOptions, 'key'> = {},
): Promise<BoardFile> {
  const what = JSON.stringify([board, file.name, file.size, file.lastModified, where]);
  return attempt(what, 'upload', (key) => sendFile(board, file, where, { ...sending, key }));
}

/**
 * The Content-Digest header, with which the server detects corruption. Null on insecure origins, where browsers have no
 * WebCrypto.
 */
async function contentDigest(bytes: Blob): Promise<string | null> {
  let buffer: ArrayBuffer;
  try {
    buffer = await bytes.arrayBuffer();
  } catch {
    throw new ClientError('file_unreadable', 'The file can no longer be read.', { hint: 'Choose it again.' });
  }
  if (!globalThis.crypto.subtle) return null;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', buffer));
  return `sha-256=:${btoa(String.fromCharCode(...hash))}:`;
}

function send(
  board: string,
  bytes: Blob,
  where: UploadTarget,
  digest: string | null,
  { key, signal, onProgress }: UploadOptions,
): Promise<BoardFile> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(where)) if (value !== undefined) query.set(name, String(value));
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const cancel = (): void => request.abort();
    const fail = (): void =>
      reject(new ClientError('server_unreachable', 'The server cannot be reached.', { delivery: 'unclear' }));
    let silence: ReturnType<typeof setTimeout>;
    const failAfter = (ms: number): void => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        fail();
        request.abort();
      }, ms);
    };
    request.open('POST', `/v1/boards/${encodeURIComponent(board)}/files?${query}`);
    request.responseType = 'json';
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.setRequestHeader('Idempotency-Key', key);
    if (digest !== null) request.setRequestHeader('Content-Digest', digest);
    const token = session.peek()?.csrf_token;
    if (token !== undefined) request.setRequestHeader('X-Service-CSRF', token);
    request.upload.onprogress = ({ loaded }) => {
      failAfter(loaded < bytes.size ? SILENCE_MS : ANSWER_MS);
      onProgress?.(loaded);
    };
    request.onload = () => {
      if (request.status === 201 && request.response) resolve(request.response as BoardFile);
      else reject(toClientError(request.status, request.response));
    };
    request.onerror = fail;
    request.onabort = () => reject(signal?.reason ?? new DOMException('cancelled', 'AbortError'));
    request.onloadend = () => {
      clearTimeout(silence);
      signal?.removeEventListener('abort', cancel);
    };
    signal?.addEventListener('abort', cancel);
    failAfter(SILENCE_MS);
    request.send(bytes);
  });
}

function toClientError(status: number, body: unknown): ClientError {
  const { error } = (body ?? {}) as {
    error?: { code?: string; message: string; hint?: string; details?: Record<string, unknown> };
  };
  // A proxy cannot say whether the server stored it.
  if (!error?.code)
    return new ClientError('server_unexpected', `The server answered with status ${status}.`, {
      status,
      delivery: 'unclear',
    });
  const { code, message, hint, details } = error;
  return new ClientError(code, message, { status, hint, details });
}
