/** Prepares a request: URL, headers and body, the same for every attempt. */
import type { ClientRoute } from '../contract/routes.ts';
import { ClientError, invalidInput } from './errors.ts';
import { isIdempotencyKey, newIdempotencyKey } from './idempotency.ts';

/** Bytes to send instead of JSON. They may be opened again for another attempt, and are then the same. */
export interface UploadBody {
  length: number;
  /** `sha-256=:…:` of them. */
  digest: string;
  open(): AsyncIterable<Uint8Array>;
}

/** A list stands for a parameter given several times. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface RequestParts {
  params?: Record<string, string | number>;
  query?: Query;
  body?: unknown;
  bytes?: UploadBody;
  idempotencyKey?: string;
  keepalive?: boolean;
}

export interface PreparedRequest {
  method: ClientRoute['method'];
  /** Path with its parameters filled in, without the query. */
  path: string;
  url: string;
  headers: Record<string, string>;
  body: string | UploadBody | undefined;
  /** Whether it only asks what would be done. */
  dryRun: boolean;
  token: string | undefined;
  keepalive: boolean;
}

/**
 * @param origin where the request goes; nothing in `parts` can lead it elsewhere.
 * @throws ClientError `invalid_request` for a parameter or key that cannot be sent, `key_invalid` for such a token.
 */
export function prepareRequest(
  row: ClientRoute,
  origin: string,
  parts: RequestParts,
  extra: { token?: string; userAgent?: string },
): PreparedRequest {
  const path = fillPath(row.path, parts.params ?? {});
  const url = `${origin}${path}${queryString(parts.query ?? {})}`;
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (extra.userAgent) headers['User-Agent'] = extra.userAgent;
  if (extra.token !== undefined) headers['Authorization'] = `Bearer ${checkedToken(extra.token)}`;
  if (row.method !== 'GET') headers['Idempotency-Key'] = checkedKey(parts.idempotencyKey ?? newIdempotencyKey());
  const body = parts.bytes ?? (parts.body === undefined ? undefined : JSON.stringify(parts.body));
  if (typeof body === 'string') headers['Content-Type'] = 'application/json';
  else if (body) Object.assign(headers, headersOf(body));
  const dryRun = [parts.query, parts.body].some(
    (part) => (part as { dry_run?: unknown } | undefined)?.dry_run === true,
  );
  const { keepalive = false } = parts;
  return { method: row.method, path, url, headers, body, dryRun, token: extra.token, keepalive };
}

const headersOf = ({ length, digest }: UploadBody): Record<string, string> => ({
  'Content-Type': 'application/octet-stream',
  'Content-Length': String(length),
  'Content-Digest': digest,
});

function fillPath(path: string, params: Record<string, string | number>): string {
  return path.replace(/\{([a-z_]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new TypeError(`path parameter ${name} of ${path} is missing`);
    return encodeSegment(name, String(value));
  });
}

function encodeSegment(name: string, value: string): string {
  // The URL parser would remove these segments and select another resource.
  const swallowed = value === '' || value === '.' || value === '..';
  try {
    if (!swallowed) return encodeURIComponent(value);
  } catch {
    // A lone surrogate has no UTF-8 form.
  }
  throw invalidInput(`This cannot be a ${name}.`, { field: name, problem: 'cannot stand in an address' });
}

function queryString(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? (value as string[]) : [value]) pairs.append(name, String(each));
  }
  const text = pairs.toString();
  return text === '' ? '' : `?${text}`;
}

/** Checked here, because the platform's error message about an invalid header would quote the secret. */
function checkedToken(token: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(token)) return token;
  throw new ClientError('key_invalid', 'The stored credential is not one that can be sent.', {
    hint: 'Sign in again.',
  });
}

function checkedKey(key: string): string {
  if (isIdempotencyKey(key)) return key;
  throw invalidInput('An idempotency key has 1 to 128 printable ASCII characters.', { field: 'Idempotency-Key' });
}
