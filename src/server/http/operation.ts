/** Runs the operation and sends what it answers. */
import type { ServerResponse } from 'node:http';
import type { Reply } from '../operation/run-write.ts';
import { send, standingOf } from './answer.ts';
import { sendBytes } from './body/download.ts';
import { setCookie } from './browser.ts';
import type { AppOptions, Context, Step } from './context.ts';
import { answering } from './errors.ts';

export const runOperation =
  (options: AppOptions): Step =>
  async (ctx) => {
    const { state, res } = ctx;
    state.gone = (left) => whenGone(res, left);
    const answered = await options.operations.run(state.operation, state);
    if ('reply' in answered) return sendReply(ctx, answered.reply, options);
    // Not awaited: as with a stream, what the steps hold is let go, since thousands may wait.
    if ('later' in answered) {
      void answering(ctx, options, async () => sendReply(ctx, await answered.later, options));
      return;
    }
    if ('bytes' in answered) return sendBytes(ctx, answered.bytes, options);
    answered.stream({ res, standing: standingOf(ctx) });
  };

function sendReply(
  ctx: Context,
  { status, body, replayed, cookie, headers }: Reply,
  { site, clock }: AppOptions,
): void {
  const more: Record<string, string> = { ...headers };
  if (replayed) more['Idempotent-Replayed'] = 'true';
  if (cookie) more['Set-Cookie'] = setCookie(site, ctx.state.host, cookie, clock.now());
  // An answer that is kept for the repeat of its request refuses although nothing was thrown.
  if (status >= 400 && !replayed) ctx.state.refused = (JSON.parse(body) as { error?: { code?: string } }).error?.code;
  send(ctx, status, body, more);
}

/** Calls `left` when the client goes away before it has its answer; that an answer has gone out is the usual end. */
function whenGone(res: ServerResponse, left: () => void): void {
  if (res.closed || res.destroyed) left();
  else
    res.on('close', () => {
      if (!res.writableFinished) left();
    });
}
