/** What a failed `fetch` means, read from the error codes that Node.js puts into `cause`. */
import { ClientError, type Delivery, unexpected } from './errors.ts';

/** Nothing of the request left this machine. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const CERTIFICATE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_|INVALID_CA|PATH_LENGTH|EPROTO$)/;
/** The other side speaks, but not the HTTP that is due. */
const NOT_HTTP = /^(HPE_|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/;

interface Cause {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  syscall?: unknown;
  socket?: { bytesWritten?: unknown } | null;
}

const hintUnreachable = (origin: string) => `Check the network and that the server at ${origin} is running.`;

/**
 * Turns what `fetch` or reading its body threw into a {@link ClientError}. In a browser, where no code is given, the
 * request counts as possibly sent. A `fetch` that knows more about its network throws a {@link ClientError} itself.
 *
 * @param origin the server, for the hint.
 */
export function networkError(error: unknown, origin: string): ClientError {
  if (error instanceof ClientError) return error;
  const cause = causeOf(error);
  const code = typeof cause.code === 'string' ? cause.code : undefined;

  if (cause.message === 'unexpected redirect') {
    return unexpected('The server answered with a redirect, which is not followed.', {
      hint: `Use the address that the server really has instead of ${origin}.`,
      details: { redirect: true },
      delivery: 'answered',
    });
  }
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') return hostNotAllowed(origin);
  // From Node.js 24 on such an error has a name, but no code.
  if (cause.name === 'HTTPParserError' || (code !== undefined && NOT_HTTP.test(code))) {
    return unexpected('What answers there does not speak HTTP as it should.', {
      details: { cause: code ?? cause.name },
      delivery: 'answered',
    });
  }
  if (code === 'ENOTFOUND') {
    return unreachable('The name of the server was not found.', 'not_sent', false, code, origin);
  }
  if (code !== undefined && CERTIFICATE.test(code)) {
    const message = 'No secure connection to the server: its certificate was not accepted, or it does not speak TLS.';
    return unreachable(message, 'not_sent', false, code, origin);
  }
  if (cause.message === 'bad port') {
    return unreachable('No connection is ever made to that port.', 'not_sent', false, code, origin);
  }
  if (neverWritten(cause, code)) {
    return unreachable('The server cannot be reached.', 'not_sent', true, code, origin);
  }
  return unreachable('The connection broke before the answer was complete.', 'unclear', true, code, origin);
}

/**
 * On a 421 the `fetch` of Node.js repeats the request on a new connection by itself and, on some versions, trips over
 * its own spent body. Nothing else makes it send less than it announced, so this is the 421.
 */
function hostNotAllowed(origin: string): ClientError {
  return new ClientError('host_not_allowed', 'The server does not answer under this name.', {
    hint: `Use an address that the server is set up for instead of ${origin}.`,
    status: 421,
  });
}

function unreachable(
  message: string,
  delivery: Delivery,
  transient: boolean,
  code: string | undefined,
  origin: string,
) {
  return new ClientError('server_unreachable', message, {
    hint: hintUnreachable(origin),
    details: { origin, ...(code === undefined ? {} : { cause: code }) },
    delivery,
    transient,
  });
}

function neverWritten(cause: Cause, code: string | undefined): boolean {
  if (code !== undefined && NOT_SENT.has(code)) return true;
  // ECONNRESET and ETIMEDOUT say by their system call whether the connection ever stood.
  if (cause.syscall === 'connect' || cause.syscall === 'getaddrinfo') return true;
  if (code === 'ECONNRESET' && String(cause.message).includes('before secure TLS connection')) return true;
  return cause.socket?.bytesWritten === 0;
}

/** `fetch` wraps the system's error once; addresses tried in parallel come as an AggregateError that carries a code. */
function causeOf(error: unknown): Cause {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return typeof cause === 'object' && cause !== null ? (cause as Cause) : {};
}
