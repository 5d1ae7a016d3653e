/** Headers of every answer. */
import type { Context } from 'koa';

const always: readonly [string, string][] = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['X-Frame-Options', 'DENY'],
];

export function securityHeaders(ctx: Context): void {
  for (const [name, value] of always) ctx.res.setHeader(name, value);
}
