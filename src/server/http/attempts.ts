/** Where attempts are counted on a request's way: as it arrives, once its person is known, and when its end is known. */
import type { Next } from 'koa';
import { Refusal } from '../../contract/errors.ts';
import { refuseOtherSites } from './browser.ts';
import { clientOf } from './connection/address.ts';
import type { AppOptions, Context, Step } from './context.ts';

/** Counts a client's invalid credentials on operations that require one. A key that is pasted to sign in does not count. */
export const limitBadCredentials =
  (options: AppOptions): Step =>
  (ctx, next) =>
    ctx.state.row.credentials.length > 0 ? limitBad(options, ctx, next) : next();

/**
 * A credential that works is never refused for others that do not: often all programs of a machine share one address.
 * @throws Refusal `rate_limited` where the client sent too many credentials that do not work, and what `next` throws.
 */
export async function limitBad({ attempts, site }: AppOptions, { req }: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const bad = error instanceof Refusal && error.status === 401;
    if (bad) await attempts.countBad(clientOf(req, site.mode).subject);
    throw error;
  }
}

/**
 * Refuses an operation that its client tried too often. What a page of another site has a browser send is no attempt of
 * the person who looks at that page, and is not counted. @throws Refusal `rate_limited`, `origin_not_allowed`.
 */
export const limitAttempts =
  (options: AppOptions): Step =>
  (ctx, next) =>
    options.attempts.counts(ctx.state.operation, 'address') ? attempt(options, ctx, next) : next();

async function attempt({ attempts, site }: AppOptions, { req, state }: Context, next: Next): Promise<void> {
  refuseOtherSites(req, site);
  state.passes = [await attempts.enter(state.operation, clientOf(req, site.mode).subject)];
  try {
    await next();
    await settle(state.passes, state.refused ?? null);
  } catch (error) {
    await settle(state.passes, error instanceof Refusal ? error.code : 'internal');
    throw error;
  }
}

/** Counts an attempt of the person a credential belongs to. @throws Refusal `rate_limited`. */
export const limitAttemptsOfPerson =
  ({ attempts, operations }: AppOptions): Step =>
  ({ state }, next) => {
    const { credential, operation, passes } = state;
    if (!credential || !attempts.counts(operation, 'person')) return next();
    return operations
      .resolve(credential)
      .then(({ personId }) => attempts.enterAs(operation, personId))
      .then((pass) => passes?.push(pass))
      .then(next);
  };

async function settle(passes: NonNullable<Context['state']['passes']>, code: string | null): Promise<void> {
  for (const pass of passes) await pass(code);
}
