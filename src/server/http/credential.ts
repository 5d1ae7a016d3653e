/** The credential a request presents: its bearer token, else its browser session. */
import { unauthorized } from '../operation/caller.ts';
import type { Once } from './request-head.ts';

/** Longer ones are none of ours. */
export const MAX_TOKEN = 256;

/**
 * The bearer token; null without an `Authorization` header.
 * @throws Refusal `unauthorized` unless there is exactly one `Bearer <token>`.
 */
export function bearerOf(authorization: Once): string | null {
  if (authorization === null) return null;
  const match = typeof authorization === 'string' ? /^bearer +([^\s]+) *$/i.exec(authorization) : null;
  const token = match?.[1];
  if (token === undefined || token.length > MAX_TOKEN) throw unauthorized();
  return token;
}
