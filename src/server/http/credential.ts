/**
 * The credential a request presents, told by its form alone: its bearer token, else its browser session. Of a browser's
 * write its origin and token are proven first.
 */
import { CHALLENGE_HEADER } from '../../contract/local-proof.ts';
import { type Credential, unauthorized } from '../operation/caller.ts';
import type { RequestSource } from '../operation/usecase.ts';
import { checkCsrf, checkOrigin, MAX_TOKEN, sessionCookies, sessionSecret } from './browser.ts';
import { clientOf } from './connection/address.ts';
import type { AppOptions, Context, Once, Step } from './context.ts';

/** Leaves the credential, or of an operation for which nobody signs in what it is told instead. @throws Refusal */
export const readCredential =
  (options: AppOptions): Step =>
  (ctx, next) => {
    const { state } = ctx;
    if (state.kind === 'open' || state.kind === 'info') state.source = sourceOf(ctx, options);
    else state.credential = credentialOf(ctx, options);
    return next();
  };

/** @throws Refusal `unauthorized`, `origin_not_allowed`, `csrf_token_invalid`. */
export function credentialOf({ req, method, state }: Context, { operations, site }: AppOptions): Credential {
  const bearer = bearerOf(state.head.authorization);
  if (bearer !== null) return operations.credential(bearer);
  const cookies = sessionCookies(req, site, state.host);
  if (cookies.length === 0) throw unauthorized();
  const writes = method !== 'GET' && method !== 'HEAD';
  if (writes) checkOrigin(req, site, state.host);
  const secret = sessionSecret(cookies);
  if (writes) checkCsrf(req, operations.csrfToken(secret));
  return { ...operations.credential(secret), cookie: true };
}

/** A credential that is sent along where none is asked for is neither checked nor recorded. */
function sourceOf(ctx: Context, options: AppOptions): RequestSource {
  const { req, state } = ctx;
  const { origin, credentials } = state.row;
  if (origin) checkOrigin(req, options.site, state.host);
  return {
    ...clientOf(req, options.site.mode),
    bearer: credentials.length > 0 ? bearerOf(state.head.authorization) : null,
    session: origin ? ownSession(ctx, options) : null,
    challenge: req.headers[CHALLENGE_HEADER],
  };
}

/** The session of the browser that signs in; whatever else its cookie holds keeps nobody from signing in. */
function ownSession({ req, state }: Context, { operations, site }: AppOptions): Credential | null {
  if (req.headers.authorization !== undefined) return null;
  try {
    return operations.credential(sessionSecret(sessionCookies(req, site, state.host)));
  } catch {
    return null;
  }
}

/**
 * The bearer token; null without an `Authorization` header.
 * @throws Refusal `unauthorized` unless there is exactly one `Bearer <token>`.
 */
function bearerOf(authorization: Once): string | null {
  if (authorization === null) return null;
  const match = typeof authorization === 'string' ? /^bearer +([^\s]+) *$/i.exec(authorization) : null;
  const token = match?.[1];
  if (token === undefined || token.length > MAX_TOKEN) throw unauthorized();
  return token;
}
