/** Where attempts are counted on a request's way: as it arrives, once its person is known, and when its end is known. */
import { Refusal } from '../../contract/errors.ts';
import { clientOf } from './address.ts';
import type { AppOptions, Context, Step } from './context.ts';

const subjectOf = (ctx: Context, { site }: AppOptions): string | null => clientOf(ctx.req, site.mode).subject;

/** Counts the credentials of a client that do not work, where one is asked for. One that is pasted to sign in is none. */
export const limitBadCredentials =
  (options: AppOptions): Step =>
  (ctx, next) =>
    ctx.state.row.credentials.length > 0 ? limitBad(options, ctx, next) : next();

/** @throws Refusal `rate_limited` where the client sent too many credentials that do not work, and what `next` throws. */
export async function limitBad(options: AppOptions, ctx: Context, next: () => Promise<unknown>): Promise<void> {
  const { attempts } = options;
  if (!attempts.noneBad) attempts.requireFewBad(subjectOf(ctx, options));
  try {
    await next();
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) await attempts.countBad(subjectOf(ctx, options));
    throw error;
  }
}

/** Refuses an operation that its client tried too often. @throws Refusal `rate_limited`. */
export const limitAttempts =
  (options: AppOptions): Step =>
  async (ctx, next) => {
    const { state } = ctx;
    if (!options.attempts.counts(state.operation, 'address')) return next();
    state.passes = [await options.attempts.enter(state.operation, subjectOf(ctx, options))];
    try {
      await next();
      await settle(state.passes, state.refused ?? null);
    } catch (error) {
      await settle(state.passes, error instanceof Refusal ? error.code : 'internal');
      throw error;
    }
  };

/** Counts an attempt of the person a credential belongs to. @throws Refusal `rate_limited`. */
export const limitAttemptsOfPerson =
  ({ attempts, operations }: AppOptions): Step =>
  async ({ state }, next) => {
    if (state.credential && attempts.counts(state.operation, 'person')) {
      const { personId } = await operations.resolve(state.credential);
      state.passes?.push(await attempts.enterAs(state.operation, personId));
    }
    return next();
  };

async function settle(passes: NonNullable<Context['state']['passes']>, code: string | null): Promise<void> {
  for (const pass of passes) await pass(code);
}
