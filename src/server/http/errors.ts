/** The outermost step: a request's number, its log line, and the one place where errors become answers. */
import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import { newId } from '../text/ids.ts';

/** @param counted what becomes of an error once it is counted: itself, or what is said instead. */
export function requestErrors(
  log: Logger,
  now: () => number,
  counted: (ctx: Context, error: unknown) => Promise<unknown>,
) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const started = now();
    const requestId = newId('req', started);
    ctx.state['requestId'] = requestId;
    ctx.res.setHeader('X-Request-Id', requestId);
    try {
      await next();
    } catch (error) {
      answer(ctx, await counted(ctx, error).catch((other: unknown) => other), requestId, log);
    }
    log.debug(
      { request: requestId, operation: ctx.state['operation'], status: ctx.status, ms: now() - started },
      'request',
    );
  };
}

function answer(ctx: Context, error: unknown, requestId: string, log: Logger): void {
  if (ctx.res.headersSent) {
    log.error({ err: error, request: requestId }, 'failed after the answer began');
    ctx.res.destroy();
    return;
  }
  const refusal = error instanceof Refusal ? error : unexpected(error, ctx, requestId, log);
  ctx.status = refusal.status;
  for (const [name, value] of Object.entries(refusal.headers ?? {})) ctx.set(name, value);
  if (refusal.retryAfter !== undefined) ctx.set('Retry-After', String(refusal.retryAfter));
  // A body that was not read to its end would be taken for the next request.
  if (!ctx.req.complete && refusal.status !== 404) ctx.set('Connection', 'close');
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = Buffer.from(JSON.stringify(refusal.body()));
}

/** Whatever is no refusal is a defect: its cause goes to the log only. */
function unexpected(error: unknown, ctx: Context, requestId: string, log: Logger): Refusal {
  log.error({ err: error, request: requestId, operation: ctx.state['operation'] }, 'unexpected failure');
  return new Refusal('internal', 'Something went wrong on the server.', {
    hint: 'Try again; if it stays, the log names the cause under this request id.',
    details: { request_id: requestId },
  });
}
