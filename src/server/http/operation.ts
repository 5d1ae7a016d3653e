/** Runs the operation and sends what it answers. */
import type { ServerResponse } from 'node:http';
import type { Reply } from '../operation/run-write.ts';
import { prepareHead, send } from './answer.ts';
import { sendBytes } from './body/download.ts';
import { setCookie } from './browser.ts';
import type { AppOptions, Context, Step } from './context.ts';

export const runOperation =
  (options: AppOptions): Step =>
  async (ctx) => {
    const { state, res } = ctx;
    state.gone = () => goneSignal(res);
    const answered = await options.operations.run(state.operation, state);
    if ('reply' in answered) return sendReply(ctx, answered.reply, options);
    if ('bytes' in answered) return sendBytes(ctx, answered.bytes, options.log);
    prepareHead(ctx);
    answered.stream(res);
  };

function sendReply(ctx: Context, { status, body, replayed, cookie, headers }: Reply, { site, now }: AppOptions): void {
  const more: Record<string, string> = { ...headers };
  if (replayed) more['Idempotent-Replayed'] = 'true';
  if (cookie) more['Set-Cookie'] = setCookie(site, ctx.state.host, cookie, now());
  // An answer that is kept for the repeat of its request refuses although nothing was thrown.
  if (status >= 400 && !replayed) ctx.state.refused = (JSON.parse(body) as { error?: { code?: string } }).error?.code;
  send(ctx, status, body, more);
}

/** Aborts when the client goes away before it has its answer. */
function goneSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (res.closed || res.destroyed) controller.abort();
  // An answer that has gone out is the usual end, and aborting costs more than writing it.
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}
