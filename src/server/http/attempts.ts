/** Where attempts are counted on a request's way: as it arrives, once its person is known, and when its end is known. */
import type { Context } from 'koa';
import { Refusal } from '../../contract/errors.ts';
import type { OperationRow } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Attempts, Pass } from '../rates/attempts.ts';
import { clientOf } from './address.ts';
import type { Site } from './site.ts';

interface Counting {
  attempts: Attempts;
  site: Site;
}

const subjectOf = (ctx: Context, { site }: Counting): string | null => clientOf(ctx.req, site.mode).subject;

/** Runs an operation unless its client tried too often. @throws Refusal `rate_limited`, and what `serve` throws. */
export function limitAttempts<Options extends Counting>(
  serve: (ctx: Context, name: OperationName, options: Options) => Promise<void>,
) {
  return async (ctx: Context, name: OperationName, options: Options): Promise<void> => {
    const row: OperationRow = operations[name];
    if (row.credentials.length > 0) requireFewBad(ctx, options);
    if (!options.attempts.counts(name, 'address')) return serve(ctx, name, options);
    const passes = [await options.attempts.enter(name, subjectOf(ctx, options))];
    ctx.state['passes'] = passes;
    try {
      await serve(ctx, name, options);
      await settle(passes, (ctx.state['refused'] as string | undefined) ?? null);
    } catch (error) {
      await settle(passes, error instanceof Refusal ? error.code : 'internal');
      throw error;
    }
  };
}

async function settle(passes: Pass[], code: string | null): Promise<void> {
  for (const pass of passes) await pass(code);
}

/** Counts an attempt of the person a credential belongs to. @throws Refusal `rate_limited`. */
export async function enterAs(
  ctx: Context,
  name: OperationName,
  { attempts }: Counting,
  { personId }: { personId: string },
): Promise<void> {
  (ctx.state['passes'] as Pass[]).push(await attempts.enterAs(name, personId));
}

/** Notes an answer that refuses although nothing was thrown: one that is kept for the repeat of its request. */
export function noteRefusal(ctx: Context, body: string): void {
  ctx.state['refused'] = (JSON.parse(body) as { error?: { code?: string } }).error?.code;
}

/** @throws Refusal `rate_limited` where the client sent too many credentials that do not work. */
export function requireFewBad(ctx: Context, options: Counting): void {
  if (!options.attempts.noneBad) options.attempts.requireFewBad(subjectOf(ctx, options));
}

/** Counts a credential that does not work. One that is pasted to sign in is no credential of the request: that counts as a sign-in. */
export async function countBadCredential(ctx: Context, error: unknown, options: Counting): Promise<unknown> {
  const name = ctx.state['operation'] as OperationName | undefined;
  const asked = name === undefined || operations[name].credentials.length > 0;
  if (asked && error instanceof Refusal && error.status === 401)
    await options.attempts.countBad(subjectOf(ctx, options));
  return error;
}
