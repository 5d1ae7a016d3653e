/** Reads the shape of a request: its Idempotency-Key, its body, and what its operation makes of parameters and body. */
import type { OperationName } from '../../contract/operations.ts';
import type { AnyInput } from '../operation/usecase.ts';
import { parseBody, parseParams, parseQuery } from './body/parse.ts';
import { readBody } from './body/read.ts';
import { incomingBytes } from './body/upload.ts';
import { clientOf } from './connection/address.ts';
import type { AppOptions, Context, Step } from './context.ts';
import { checkKeySyntax, requestHash } from './keyed.ts';
import { bodyLimit, malformed } from './limits.ts';
import { one } from './request-head.ts';

/** @throws Refusal of the shape, once it is known that the credential works: that refusal would come first. */
export const readShape =
  (options: AppOptions): Step =>
  async (ctx, next) => {
    const { credential, operation } = ctx.state;
    const resolve = async (counted?: OperationName) => credential && options.operations.resolve(credential, counted);
    try {
      await read(ctx, options, () => resolve());
    } catch (error) {
      await resolve(operation);
      throw error;
    }
    return next();
  };

/** @param resolve checks the credential before a slow body is waited for, or any of a client that showed too many bad ones. */
async function read(ctx: Context, options: AppOptions, resolve: () => Promise<unknown>): Promise<void> {
  const { operations, attempts, site, clock } = options;
  const { req, querystring, state } = ctx;
  const { operation, row, kind, head, params } = state;
  const key = row.method === 'GET' ? null : checkKeySyntax(head.idempotencyKey);
  if (key === null && row.keyRequired) throw malformed('Idempotency-Key', 'is required here');
  if (kind === 'upload') state.incoming = incomingBytes(ctx, key, clock);
  const hasJson = row.method !== 'GET' && kind !== 'upload';
  if (hasJson && attempts.refusesBad(() => clientOf(req, site.mode).subject)) await resolve();
  const bytes = hasJson ? await readBody(req, resolve, clock, bodyLimit(kind)) : null;
  const keyed = kind === 'write' && key !== null && bytes !== null;
  state.keyed = keyed ? { key, requestHash: requestHash(req, one(head.contentType), bytes) } : null;
  if (bytes !== null && row.maxBody !== undefined && bytes.length > row.maxBody) {
    throw malformed('body', `is larger than ${row.maxBody} bytes`);
  }
  state.input = {
    params: parseParams(operation, params),
    query: parseQuery(operation, querystring),
    body: bytes ? operations.prepare(operation, parseBody(operation, head.contentType, bytes)) : undefined,
    requestId: state.requestId,
    idempotencyKey: key ?? undefined,
    lastEventId: kind === 'stream' ? req.headers['last-event-id']?.toString() : undefined,
  } as AnyInput;
}
