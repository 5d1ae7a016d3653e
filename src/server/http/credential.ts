/** The credential a request presents: its bearer token, else its browser session. */
import type { IncomingMessage } from 'node:http';
import { unauthorized } from '../operation/caller.ts';

/** Longer ones are none of ours. */
export const MAX_TOKEN = 256;

/**
 * The bearer token; null without an `Authorization` header.
 * @throws Refusal `unauthorized` unless there is exactly one `Bearer <token>`.
 */
export function bearerOf(req: IncomingMessage): string | null {
  const values: string[] = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i]?.toLowerCase() === 'authorization') values.push(req.rawHeaders[i + 1] ?? '');
  }
  if (values.length === 0) return null;
  const match = values.length === 1 ? /^bearer +([^\s]+) *$/i.exec(values[0] ?? '') : null;
  const token = match?.[1];
  if (token === undefined || token.length > MAX_TOKEN) throw unauthorized();
  return token;
}
