/** The outermost step: a request's number, its log line, and the one place where errors become answers. */
import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import { asRefusal } from '../operation/run.ts';
import { newId } from '../text/ids.ts';
import { send } from './answer.ts';
import { BODY_MS } from './body.ts';
import { standingHeaders } from './headers.ts';
import { boundRest } from './linger.ts';
import type { Site } from './site.ts';

/** @param counted what becomes of an error once it is counted: itself, or what is said instead. */
export function requestErrors(
  { log, now, after, site }: { log: Logger; now(): number; after(ms: number, fn: () => void): () => void; site: Site },
  counted: (ctx: Context, error: unknown) => Promise<unknown>,
) {
  const standing = standingHeaders(site.mode);
  return async (ctx: Context, next: Next): Promise<void> => {
    const started = now();
    const requestId = newId('req', started);
    ctx.state['requestId'] = requestId;
    ctx.state['standing'] = standing;
    try {
      await next();
    } catch (error) {
      const said = await counted(ctx, error).catch((other: unknown) => other);
      answer(ctx, asRefusal(said), requestId, log);
    }
    if (!ctx.req.complete && ctx.res.writableEnded) boundRest(ctx.req, BODY_MS, after);
    if (!log.isLevelEnabled('debug')) return;
    const { operation } = ctx.state;
    log.debug({ request: requestId, operation, status: ctx.res.statusCode, ms: now() - started }, 'request');
  };
}

function answer(ctx: Context, error: unknown, requestId: string, log: Logger): void {
  if (ctx.res.headersSent) {
    log.error({ err: error, request: requestId }, 'failed after the answer began');
    ctx.res.destroy();
    return;
  }
  const refusal = error instanceof Refusal ? error : unexpected(error, ctx, requestId, log);
  const headers: Record<string, string> = { ...refusal.headers };
  if (refusal.retryAfter !== undefined) headers['Retry-After'] = String(refusal.retryAfter);
  // A body that was not read to its end would be taken for the next request.
  if (!ctx.req.complete && refusal.status !== 404) headers['Connection'] = 'close';
  send(ctx, refusal.status, JSON.stringify(refusal.body()), headers);
}

/** Whatever is no refusal is a defect: its cause goes to the log only. */
function unexpected(error: unknown, ctx: Context, requestId: string, log: Logger): Refusal {
  log.error({ err: error, request: requestId, operation: ctx.state['operation'] }, 'unexpected failure');
  return new Refusal('internal', 'Something went wrong on the server.', {
    hint: 'Try again; if it stays, the log names the cause under this request id.',
    details: { request_id: requestId },
  });
}
