/** Answers to what is not even HTTP, or breaks the parser's limits. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../db/clock.ts';
import { newId } from '../../text/ids.ts';
import { headerLines } from '../headers.ts';
import type { Site } from '../site.ts';

/** How long a client has to read such an answer. Milliseconds. */
const LINGER_MS = 1_000;

const reasons: Record<string, [string, string, string]> = {
  HPE_HEADER_OVERFLOW: ['400 Bad Request', 'invalid_request', 'The headers are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
};

/**
 * What writes an error in its usual shape to a socket that has no request object, and closes it.
 * @param answering whether an answer has begun on a socket and not come to its end: nothing may be written into it.
 */
export const rawRefusal =
  (mode: Site['mode'], clock: Clock, answering: (socket: Duplex) => boolean) =>
  (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    if (answering(socket)) return void socket.end(() => socket.destroy());
    const [status, code, message] = reasons[error.code ?? ''] ?? [
      '400 Bad Request',
      'invalid_request',
      'This is not a request.',
    ];
    const body = JSON.stringify({ error: { code, message, hint: 'Send it again, well formed.' } });
    // The platform watches it no more, and its client may never end it.
    const cancel = clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', cancel);
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${newId('req', Date.now())}\r\n${headerLines(mode)}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  };
