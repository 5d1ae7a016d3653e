/** Keys that make a repeated write safe. */
import { CROCKFORD } from '../contract/ids.ts';

/** A new `Idempotency-Key`: `cli_` and 26 random base32 characters (130 bits). */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(26));
  let key = 'cli_';
  for (const byte of bytes) key += CROCKFORD[byte & 31];
  return key;
}

/** Whether the server takes it: 1 to 128 printable ASCII characters. */
export function isIdempotencyKey(value: string): boolean {
  return /^[\x20-\x7e]{1,128}$/.test(value);
}
