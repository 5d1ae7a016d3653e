/**
 * Routing by the framework's router, in small parts: a router tries its routes one after the other, so those that cannot
 * match a request, by method or by the number of segments, are put where they are not tried. The router only matches: run
 * as middleware it would compose a chain of functions anew for every request.
 */
import Router from '@koa/router';
import type { Context } from 'koa';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Handle = (ctx: Context) => unknown;

export interface Found {
  handle: Handle;
  /** Values of the path's parameters, decoded. */
  params: Readonly<Record<string, string>>;
}

/** Paths whose route is remembered, without their queries. */
const REMEMBERED = 1_000;
/** A longer one is not: whoever sends it wants to fill the memory. */
const MOST_LENGTH = 200;

const newRouter = (): Router => new Router({ strict: true, sensitive: true });

export class Routes {
  readonly #all = newRouter();
  /** Methods of the paths without parameters: such a path is nothing else, although a parameter could stand there. */
  readonly #plain = new Map<string, string[]>();
  readonly #parts = new Map<string, Router>();
  /** The same boards are asked for again and again. */
  readonly #found = new Map<string, Found>();

  /** Adds a route; parameters are written `:name`. */
  add(method: Method, path: string, handle: Handle): void {
    this.#all.register(path, [method], handle as never);
    if (!path.includes(':')) {
      const methods = method === 'GET' ? ['HEAD', 'GET'] : [method];
      this.#plain.set(path, [...(this.#plain.get(path) ?? []), ...methods]);
    }
    const key = keyOf(method, path);
    const part = this.#parts.get(key) ?? newRouter();
    this.#parts.set(key, part);
    part.register(path, [method], handle as never);
  }

  /** The route of a request; `HEAD` is served by the routes of `GET`. */
  find(method: string, path: string): Found | null {
    const asked = `${method} ${path}`;
    const known = this.#found.get(asked);
    if (known) return known;
    const found = this.#match(method, path);
    if (!found) return null;
    if (asked.length > MOST_LENGTH) return found;
    if (this.#found.size >= REMEMBERED) this.#found.clear();
    this.#found.set(asked, found);
    return found;
  }

  #match(method: string, path: string): Found | null {
    if (this.#plain.get(path)?.includes(method) === false) return null;
    const part = this.#parts.get(keyOf(method === 'HEAD' ? 'GET' : method, path));
    const layer = part?.match(path, method).pathAndMethod[0];
    if (!layer) return null;
    const params = Object.freeze(layer.params(path, layer.captures(path)));
    return { handle: layer.stack[0] as unknown as Handle, params };
  }

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
