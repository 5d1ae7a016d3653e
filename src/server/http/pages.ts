/** Answers that are not operations: the API description, and a page for people who open the server's address in a browser. */
import { openapi } from '../../contract/openapi.ts';
import { send } from './answer.ts';
import { limitBad } from './attempts.ts';
import type { AppOptions, Context, Step } from './context.ts';
import { credentialOf } from './credential.ts';

type Page = (options: AppOptions) => Step;

const welcome: Page = () => async (ctx) => {
  const text = 'This is a board service. It was built without the web page; use the command line: service --help\n';
  send(ctx, 200, text, {}, 'text/plain; charset=utf-8');
};

const description: Page = (options) => {
  // It takes a tenth of a second to make, and is the same for all.
  let text: string | null = null;
  const show = async (ctx: Context): Promise<void> => {
    await options.operations.resolve(credentialOf(ctx, options));
    text ??= JSON.stringify(openapi(options.version));
    send(ctx, 200, text);
  };
  return (ctx) => limitBad(options, ctx, () => show(ctx));
};

/** Pages by their path. */
export const pages: Readonly<Record<string, Page>> = { '/': welcome, '/openapi.json': description };

export function servePages(options: AppOptions): Step {
  const served = new Map(Object.entries(pages).map(([path, page]) => [path, page(options)]));
  return (ctx, next) => {
    const page = ctx.method === 'GET' || ctx.method === 'HEAD' ? served.get(ctx.path) : undefined;
    return page ? page(ctx, next) : next();
  };
}
