/** Limits of a request that are decided before its credential. */
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../contract/errors.ts';
import { ANY_REQUEST } from '../../contract/problems.ts';
import type { RequestHead } from './request-head.ts';

const MAX_URL = 8 * 1024;
const MAX_HEADERS = 16 * 1024;
/** Bytes of a JSON body. */
export const MAX_JSON = 1_048_576;
/** Bytes of a JSON body where nobody signs in. */
export const MAX_OPEN = 16_384;

/** @param limit of bytes. */
export function tooLarge(limit: number): Refusal {
  return new Refusal('request_too_large', `The request is larger than ${limit} bytes.`, {
    hint: limit === MAX_OPEN ? ANY_REQUEST : 'Send less at once, or put it onto the board as a file.',
  });
}

/**
 * @param limit bytes of a JSON body.
 * @throws Refusal `invalid_request` (URL, headers), `request_too_large` (declared length).
 */
export function checkLimits(req: IncomingMessage, head: RequestHead, limit: number): void {
  if ((req.url?.length ?? 0) > MAX_URL) throw malformed('url', `longer than ${MAX_URL} bytes`);
  if (head.size > MAX_HEADERS) throw malformed('headers', `longer than ${MAX_HEADERS} bytes`);
  if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

export function malformed(field: string, problem: string): Refusal {
  return new Refusal('invalid_request', `${field}: ${problem}.`, {
    hint: ANY_REQUEST,
    details: { field, problem },
  });
}
