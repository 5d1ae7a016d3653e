/** The API description, the only answer about the API that is not an operation. */
import { openapi } from '../../contract/openapi/openapi.ts';
import { send } from './answer.ts';
import { limitBad } from './attempts.ts';
import type { AppOptions, Context, Step } from './context.ts';
import { credentialOf } from './credential.ts';

/** Where it is. */
export const DESCRIPTION_PATH = '/openapi.json';

export function serveDescription(options: AppOptions): Step {
  // It takes a tenth of a second to make, and is the same for all.
  let text: string | null = null;
  const show = async (ctx: Context): Promise<void> => {
    await options.operations.resolve(credentialOf(ctx, options));
    text ??= JSON.stringify(openapi(options.version));
    send(ctx, 200, text);
  };
  return (ctx, next) => {
    const asked = ctx.path === DESCRIPTION_PATH && (ctx.method === 'GET' || ctx.method === 'HEAD');
    return asked ? limitBad(options, ctx, () => show(ctx)) : next();
  };
}
