/** Sends the bytes of a file with progress, which only XMLHttpRequest tells, and with the proof that the page asks. */
import { ClientError } from '../../client/errors.ts';
import type { BoardFile } from '../../contract/types.ts';
import { MAX_FILE } from '../../contract/values.ts';
import { renewCsrfToken } from '../api/client.ts';
import { clearSession, session } from '../api/session.ts';
import { formatNumber } from '../parts/number.ts';

/** The query of an upload: where the bytes go and which version they replace. */
export interface Where {
  name: string;
  base?: number;
  file_id?: string;
  brief?: boolean;
  /** The brief becomes Markdown instead of HTML, or the other way round. */
  replace_format?: boolean;
  maintained?: boolean;
}

interface Sending {
  /** The same as long as nobody knows whether the version was made. */
  key: string;
  signal?: AbortSignal;
  /** Bytes that have left so far. */
  progress?(sent: number): void;
}

/**
 * Makes a file of a board, or the next version of one, from these bytes.
 *
 * @throws ClientError with the server's code, `file_too_large` before anything is sent, or `server_unreachable`; the
 * signal's reason when it was cancelled.
 */
export async function sendFile(board: string, bytes: Blob, where: Where, sending: Sending): Promise<BoardFile> {
  if (bytes.size > MAX_FILE)
    throw new ClientError(
      'file_too_large',
      `This file has ${formatNumber(bytes.size)} bytes; a file may have ${formatNumber(MAX_FILE)}. Nothing was sent.`,
      { hint: 'Put it elsewhere and post the link.' },
    );
  const digest = await digestOf(bytes);
  sending.signal?.throwIfAborted();
  try {
    return await send(board, bytes, where, digest, sending);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code === 'csrf_token_invalid' && (await renewCsrfToken()))
      return send(board, bytes, where, digest, sending);
    if (error.status === 401) clearSession('Your session has ended. Sign in again.');
    throw error;
  }
}

/**
 * The header that lets the server see damage on the way. Browsers hash on secure origins only; elsewhere it is left
 * out.
 */
async function digestOf(bytes: Blob): Promise<string | null> {
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
  where: Where,
  digest: string | null,
  { key, signal, progress }: Sending,
): Promise<BoardFile> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(where)) if (value !== undefined) query.set(name, String(value));
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const cancel = (): void => request.abort();
    request.open('POST', `/v1/boards/${encodeURIComponent(board)}/files?${query}`);
    request.responseType = 'json';
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.setRequestHeader('Idempotency-Key', key);
    if (digest !== null) request.setRequestHeader('Content-Digest', digest);
    const token = session.peek()?.csrf_token;
    if (token !== undefined) request.setRequestHeader('X-Service-CSRF', token);
    request.upload.onprogress = ({ loaded }) => progress?.(loaded);
    request.onload = () => {
      if (request.status === 201 && request.response) resolve(request.response as BoardFile);
      else reject(refusal(request.status, request.response));
    };
    request.onerror = () =>
      reject(new ClientError('server_unreachable', 'The server cannot be reached.', { delivery: 'unclear' }));
    request.onabort = () => reject(signal?.reason ?? new DOMException('cancelled', 'AbortError'));
    request.onloadend = () => signal?.removeEventListener('abort', cancel);
    signal?.addEventListener('abort', cancel);
    request.send(bytes);
  });
}

function refusal(status: number, body: unknown): ClientError {
  const { error } = (body ?? {}) as {
    error?: { code: string; message: string; hint?: string; details?: Record<string, unknown> };
  };
  if (!error) return new ClientError('server_unexpected', `The server answered with status ${status}.`, { status });
  const { code, message, hint, details } = error;
  return new ClientError(code, message, { status, hint, details });
}
