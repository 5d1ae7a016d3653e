/** The token a request presents. */
import type { IncomingMessage } from 'node:http';
import { unauthorized } from '../operation/caller.ts';

const MAX_TOKEN = 256;

/** @throws Refusal `unauthorized` unless there is exactly one `Bearer <token>`. */
export function bearerOf(req: IncomingMessage): string {
  const values: string[] = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i]?.toLowerCase() === 'authorization') values.push(req.rawHeaders[i + 1] ?? '');
  }
  const match = values.length === 1 ? /^bearer +([^\s]+) *$/i.exec(values[0] ?? '') : null;
  const token = match?.[1];
  if (token === undefined || token.length > MAX_TOKEN) throw unauthorized();
  return token;
}
