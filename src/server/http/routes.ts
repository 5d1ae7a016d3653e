/**
 * Routing by the framework's router, in small parts: a router tries its routes one after the other, so those that cannot
 * match a request, by method or by the number of segments, are put where they are not tried.
 */
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export class Routes {
  readonly #all = new Router({ strict: true, sensitive: true });
  /** Methods of the paths without parameters: such a path is nothing else, although a parameter could stand there. */
  readonly #plain = new Map<string, string[]>();
  readonly #parts = new Map<string, { router: Router; run: Middleware }>();

  /** Adds a route; parameters are written `:name`. */
  add(method: Method, path: string, handle: (ctx: Context) => unknown): void {
    this.#all.register(path, [method], handle as never);
    if (!path.includes(':')) {
      const methods = method === 'GET' ? ['HEAD', 'GET'] : [method];
      this.#plain.set(path, [...(this.#plain.get(path) ?? []), ...methods]);
    }
    const key = keyOf(method, path);
    let part = this.#parts.get(key);
    if (!part) {
      const router = new Router({ strict: true, sensitive: true });
      part = { router, run: router.routes() as unknown as Middleware };
      this.#parts.set(key, part);
    }
    part.router.register(path, [method], handle as never);
  }

  /** Runs the route of a request, or what comes next. */
  run = (ctx: Context, next: Next): unknown => {
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    if (this.#plain.get(ctx.path)?.includes(method) === false) return next();
    const part = this.#parts.get(keyOf(method, ctx.path));
    return part ? part.run(ctx as never, next) : next();
  };

  /** The methods that a path has routes for. */
  methodsOf(path: string): string[] {
    const plain = this.#plain.get(path);
    if (plain) return plain;
    const { path: layers } = this.#all.match(path, 'GET');
    return [...new Set(layers.flatMap((layer) => layer.methods))];
  }
}

function keyOf(method: string, path: string): string {
  let segments = 0;
  for (let index = 0; index < path.length; index++) if (path.charCodeAt(index) === 47) segments++;
  return `${method} ${segments}`;
}
