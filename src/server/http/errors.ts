/** The one place where errors become answers. */
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import { Unreachable } from '../db/dialect.ts';
import { asRefusal, hintIfUnknown } from '../operation/run-write.ts';
import { send } from './answer.ts';
import { BODY_MS } from './body/read.ts';
import { boundRest } from './connection/close-after-answer.ts';
import type { AppOptions, Context, Step } from './context.ts';

export const answerErrors =
  (options: AppOptions): Step =>
  (ctx, next) =>
    answering(ctx, options, next);

/** Answers with the error of what should have answered. */
export async function answering(ctx: Context, options: AppOptions, run: () => Promise<void>): Promise<void> {
  const { log, clock } = options;
  try {
    await run();
  } catch (error) {
    if (error instanceof Unreachable && error.committing)
      log.error({ err: error, request: ctx.state.requestId }, 'whether a write was made is not known');
    answer(ctx, asRefusal(error, unknownHint(ctx)), options);
  }
  if (!ctx.req.complete && ctx.res.writableEnded) boundRest(ctx.req, BODY_MS, clock);
}

/** A commit was on its way only where the request was read to its end. */
const unknownHint = ({ state: { row, credential, input } }: Context): string =>
  input ? hintIfUnknown(row, credential?.kind, input.idempotencyKey) : '';

function answer(ctx: Context, error: unknown, { log, tellRefused }: AppOptions): void {
  const { requestId, operation } = ctx.state;
  if (ctx.res.headersSent) {
    log.error({ err: error, request: requestId }, 'failed after the answer began');
    return void ctx.res.destroy();
  }
  const refusal = error instanceof Refusal ? error : unexpected(error, ctx, log);
  if (refusal === error && refusal.status >= 500) tellRefused(refusal, { request: requestId, operation });
  const headers: Record<string, string> = { ...refusal.headers };
  if (refusal.retryAfter !== undefined) headers['Retry-After'] = String(refusal.retryAfter);
  // A body that was not read to its end would be taken for the next request.
  if (!ctx.req.complete && refusal.status !== 404) headers['Connection'] = 'close';
  send(ctx, refusal.status, JSON.stringify(refusal.body()), headers);
}

/** Whatever is no refusal is a defect: its cause goes to the log only. */
function unexpected(error: unknown, { state }: Context, log: Logger): Refusal {
  const { requestId, operation } = state;
  log.error({ err: error, request: requestId, operation }, 'unexpected failure');
  return new Refusal('internal', 'Something went wrong on the server.', {
    hint: 'Try again; if it stays, the log names the cause under this request id.',
    details: { request_id: requestId },
  });
}
