/** The Idempotency-Key of a request, and what makes two requests the same. */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { patterns } from '../../contract/ids.ts';
import type { Once } from './context.ts';
import { malformed } from './limits.ts';

/** @throws Refusal `invalid_request` unless it is absent or one value of 1 to 128 printable ASCII characters. */
export function checkKeySyntax(key: Once): string | null {
  if (key === null) return null;
  if (typeof key !== 'string' || !patterns.idempotencyKey.test(key)) {
    throw malformed('Idempotency-Key', 'must be one value of 1 to 128 printable ASCII characters');
  }
  return key;
}

/** SHA-256 over method, path and query as received, media type and the raw bytes of the body. */
export function requestHash(req: IncomingMessage, contentType: string, body: Buffer): Buffer {
  const [path, query = ''] = split(req.url ?? '');
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const all = Buffer.concat([Buffer.from(`${req.method}\n${path}\n${query}\n${type}\n`), body]);
  // By way of hex, which costs a third: the platform makes a buffer of its own.
  return Buffer.from(hash('sha256', all, 'hex'), 'hex');
}

function split(url: string): [string, string?] {
  const at = url.indexOf('?');
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}
