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
/** Certificate and TLS errors, with a message and a hint for each. */
const TLS: [codes: RegExp, message: (host: string) => string, hint: (host: string) => string][] = [
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|CERT_UNTRUSTED|INVALID_CA)$/,
    (host) => `The certificate of ${host} is signed by nobody that this machine trusts.`,
    () =>
      'If you trust its issuer, save the certificate of the issuer (PEM) and name the file in the environment: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
  ],
  [
    /^CERT_HAS_EXPIRED$/,
    (host) => `The certificate of ${host} has expired.`,
    () => "The operator of the server has to renew it. Check this machine's clock, too.",
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    (host) => `The certificate of ${host} is not valid yet.`,
    () => "Check this machine's clock.",
  ],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    (host) => `The certificate of the server is not for ${host}.`,
    (host) => `Use the name that the certificate is for; or ask the operator of the server to get one for ${host}.`,
  ],
  [
    /^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/,
    (host) => `What answers at ${host} does not speak TLS.`,
    () => 'Check the port, and whether the address begins with https.',
  ],
];
/** The server answers, but not with valid HTTP. */
const NOT_HTTP = /^(HPE_|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/;

interface Cause {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  syscall?: unknown;
  /** The name that was looked up. */
  hostname?: unknown;
  port?: unknown;
  socket?: { bytesWritten?: unknown } | null;
  /** Of each address that was tried. */
  errors?: Cause[];
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
  const onTheWay = proxyFailure(cause, code, origin);
  if (onTheWay) {
    const hint = 'Check the proxy that HTTPS_PROXY names; servers that need none are named in NO_PROXY.';
    return unreachable(onTheWay, { origin, code, hint, transient: true });
  }
  if (code === 'ENOTFOUND') {
    const hint = `Check that the address ${origin} is right, and that this machine has a network.`;
    return unreachable('The name of the server was not found.', { origin, code, hint });
  }
  if (code !== undefined && CERTIFICATE.test(code)) return insecure(code, origin);
  if (cause.message === 'bad port') {
    const hint = `Check the port of ${origin}: it belongs to another service, so clients refuse it.`;
    return unreachable('No connection is ever made to that port.', { origin, code, hint });
  }
  if (neverWritten(cause, code)) {
    return unreachable('The server cannot be reached.', { origin, code, transient: true });
  }
  const broke = 'The connection broke before the answer was complete.';
  return unreachable(broke, { origin, code, delivery: 'unclear', transient: true });
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

function insecure(code: string, origin: string): ClientError {
  const { host } = new URL(origin);
  const [, message, hint] = TLS.find(([codes]) => codes.test(code)) ?? [];
  const text = message?.(host) ?? `No secure connection to ${host}: its certificate was not accepted.`;
  return unreachable(text, { origin, code, hint: hint?.(host) });
}

interface Unreached {
  origin: string;
  code: string | undefined;
  hint?: string | undefined;
  delivery?: Delivery;
  transient?: boolean;
}

function unreachable(
  message: string,
  { origin, code, hint = hintUnreachable(origin), delivery = 'not_sent', transient = false }: Unreached,
): ClientError {
  return new ClientError('server_unreachable', message, {
    hint,
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

/** What the proxy failed at; null where it did not. Only https goes through one. */
function proxyFailure(cause: Cause, code: string | undefined, origin: string): string | null {
  if (code === 'ERR_PROXY_TUNNEL') return 'The proxy makes no connection to the server.';
  const server = new URL(origin);
  if (server.protocol !== 'https:') return null;
  const { hostname = server.hostname, port = server.port || 443 } = cause.errors?.[0] ?? cause;
  const isServer = hostname === server.hostname && Number(port) === Number(server.port || 443);
  return isServer ? null : 'The proxy cannot be reached.';
}

/** `fetch` wraps the system's error once; addresses tried in parallel come as an AggregateError that carries a code. */
function causeOf(error: unknown): Cause {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return typeof cause === 'object' && cause !== null ? (cause as Cause) : {};
}
