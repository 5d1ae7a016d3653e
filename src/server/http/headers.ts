/** Headers of every answer. */
import type { AppOptions, Step } from './context.ts';
import type { Site } from './site.ts';

/** Names and values in turn: so the platform writes them fastest. */
const always: readonly string[] = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['X-Frame-Options', 'DENY'],
].flat();

/** The headers as names and values in turn. A team server is reached over TLS only, so browsers are told to remember that. */
const standingHeaders = (mode: Site['mode']): readonly string[] =>
  mode === 'local' ? always : [...always, 'Strict-Transport-Security', 'max-age=31536000'];

/** Leaves them for whatever answers. */
export function setHeaders({ site }: AppOptions): Step {
  const standing = standingHeaders(site.mode);
  return ({ state }, next) => {
    state.standing = standing;
    return next();
  };
}

/** The same headers as lines, for an answer that is written without a request object. */
export const headerLines = (mode: Site['mode']): string =>
  standingHeaders(mode)
    .map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`))
    .join('');
