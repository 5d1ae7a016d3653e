/** Limits of a request that are decided before its credential. */
import { Refusal } from '../../contract/errors.ts';
import { ANY_REQUEST } from '../../contract/openapi/problems.ts';
import type { OperationKind } from '../../contract/operation.ts';
import { invalidField } from '../operation/refusals.rules.ts';
import type { Step } from './context.ts';

const MAX_URL = 8 * 1024;
const MAX_HEADERS = 16 * 1024;
const MAX_JSON = 1_048_576;
/** Bytes of a JSON body of which nobody is known to have signed in. */
export const MAX_OPEN = 16_384;

/** @param limit of bytes. */
export function tooLarge(limit: number): Refusal {
  return new Refusal('request_too_large', `The request is larger than ${limit} bytes.`, {
    hint: limit === MAX_OPEN ? ANY_REQUEST : 'Send less at once, or put it onto the board as a file.',
  });
}

/** How many bytes the body of an operation may have. Those of an upload are counted as they come. */
export function bodyLimit(kind: OperationKind): number {
  if (kind === 'upload') return Number.POSITIVE_INFINITY;
  return kind === 'open' ? MAX_OPEN : MAX_JSON;
}

/** @throws Refusal `invalid_request` (URL, headers), `request_too_large` (declared length). */
export const requireLimits: Step = ({ req, state }, next) => {
  if ((req.url?.length ?? 0) > MAX_URL) throw malformed('url', `longer than ${MAX_URL} bytes`);
  if (state.head.size > MAX_HEADERS) throw malformed('headers', `longer than ${MAX_HEADERS} bytes`);
  const limit = bodyLimit(state.kind);
  if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  return next();
};

export const malformed = (field: string, problem: string): Refusal => invalidField(field, problem, ANY_REQUEST);
