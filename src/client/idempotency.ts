/** Keys that make a repeated write safe. */
import { CROCKFORD, patterns } from '../contract/ids.ts';

/**
 * A new `Idempotency-Key`: `cli_` and a ULID (https://github.com/ulid/spec), whose ten first characters are the time in
 * milliseconds and whose other sixteen are random (80 bits). The server stores keys that grow with time faster than others.
 */
export function newIdempotencyKey(): string {
  let key = '';
  for (let left = Date.now(); key.length < 10; left = Math.floor(left / 32)) key = CROCKFORD.charAt(left % 32) + key;
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) key += CROCKFORD.charAt(byte % 32);
  return `cli_${key}`;
}

/** Whether the server takes it: 1 to 128 printable ASCII characters. */
export function isIdempotencyKey(value: string): boolean {
  return patterns.idempotencyKey.test(value);
}
