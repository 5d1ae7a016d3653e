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

/** The same headers as lines, for an answer that is written without a request object. */
export const headerLines = (): string => always.map(([name, value]) => `${name}: ${value}\r\n`).join('');

export function securityHeaders(ctx: Context): void {
  for (let index = 0; index < always.length; index++) {
    const header = always[index];
    if (header) ctx.res.setHeader(header[0], header[1]);
  }
}
