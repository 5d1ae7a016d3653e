/** Headers of every answer. */
import type { Context } from 'koa';
import type { Site } from './site.ts';

type Headers = readonly (readonly [string, string])[];

const always: Headers = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['X-Frame-Options', 'DENY'],
];

/** A team server is reached over TLS only, so browsers are told to remember that. */
const headersOf = (mode: Site['mode']): Headers =>
  mode === 'local' ? always : [...always, ['Strict-Transport-Security', 'max-age=31536000']];

/** The same headers as lines, for an answer that is written without a request object. */
export const headerLines = (mode: Site['mode']): string =>
  headersOf(mode)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

export function securityHeaders(mode: Site['mode']): (ctx: Context) => void {
  const headers = headersOf(mode);
  return (ctx) => {
    for (let index = 0; index < headers.length; index++) {
      const header = headers[index];
      if (header) ctx.res.setHeader(header[0], header[1]);
    }
  };
}
