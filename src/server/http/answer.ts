/** Writing answers, each with the headers that all of them have. */

import { endLate } from './connection/close-after-answer.ts';
import type { Context } from './context.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The headers of every answer, names and values in turn. */
export const standingOf = ({ state }: Context): string[] => ['X-Request-Id', state.requestId, ...state.standing];

/**
 * Writes an answer: head and body leave in one piece, and the headers go as one flat list, because setting them one by
 * one costs more than most of what a request does here. @param more further headers.
 */
export function send(
  ctx: Context,
  status: number,
  body: string,
  more: Readonly<Record<string, string>> = {},
  type = JSON_TYPE,
): void {
  const headers = standingOf(ctx);
  for (const [name, value] of Object.entries(more)) headers.push(name, value);
  headers.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(body)));
  ctx.res.writeHead(status, headers);
  if (more['Connection'] === 'close' && !ctx.req.complete && ctx.method !== 'HEAD') endLate(ctx.req, ctx.res, body);
  else ctx.res.end(body);
}

/** Sets the same headers ahead, for an answer that is written elsewhere. */
export function prepareHead(ctx: Context): void {
  const headers = standingOf(ctx);
  for (let index = 0; index + 1 < headers.length; index += 2) {
    ctx.res.setHeader(headers[index] as string, headers[index + 1] as string);
  }
}

/** Writes an answer whose headers take the place of those of the same names that every answer has. */
export function sendBody(ctx: Context, status: number, headers: Record<string, string>, body?: Buffer): void {
  prepareHead(ctx);
  ctx.res.writeHead(status, headers);
  ctx.res.end(body);
}
