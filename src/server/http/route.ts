/**
 * Finds the operation that a request is for, by its row's method and path. The router only matches. It tries its routes one
 * after the other, so there is one router for each method and number of segments; and what it found is remembered, because
 * the same boards are asked for again and again and matching takes 1.7 µs of the 42 of a post.
 */
import Router from '@koa/router';
import { Refusal } from '../../contract/errors.ts';
import { kindOf, type OperationRow } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { DESCRIPTION_PATH } from './api-description.ts';
import type { State, Step } from './context.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

/** Paths that a step before this one serves. */
const served = ['/', DESCRIPTION_PATH];
/** Paths without parameters: such a path is nothing else, although a parameter could stand there. */
const plain = new Set<string>(served);
const routers = new Map<string, Router>();

for (const row of Object.values(operations)) if (!row.path.includes('{')) plain.add(row.path);
for (const [name, row] of Object.entries(operations)) add(row.method, row.path, name);
// Here they tell what a wrong method could be instead.
for (const path of served) add('GET', path, path);

function add(method: Method, path: string, name: string): void {
  const key = keyOf(method, path);
  const router = routers.get(key) ?? new Router({ strict: true, sensitive: true });
  routers.set(key, router);
  router.register(path.replaceAll(/\{([a-z_]+)\}/g, ':$1'), [method], () => {}, { name });
}

function keyOf(method: Method, path: string): string {
  return `${method} ${plain.has(path) ? path : path.split('/').length}`;
}

/** What is found for a request. */
type Found = Pick<State, 'operation' | 'row' | 'kind' | 'params'>;

/** By method and path without query. One that is longer than 200 characters is not kept: it may be sent to fill the memory. */
const known = new Map<string, Found>();
const MOST_KNOWN = 1_000;
const MOST_LENGTH = 200;

const routeOf = (method: Method, path: string) =>
  routers.get(keyOf(method, path))?.match(path, method).pathAndMethod[0];

/** @throws Refusal `not_found`. */
export const findRoute: Step = ({ method, path, state }, next) => {
  const asked = `${method} ${path}`;
  Object.assign(state, known.get(asked) ?? remember(asked, find(method, path)));
  return next();
};

function remember(asked: string, found: Found): Found {
  if (known.size >= MOST_KNOWN) known.clear();
  if (asked.length <= MOST_LENGTH) known.set(asked, found);
  return found;
}

/** `HEAD` is served as `GET` is, but for the stream, which has no end. */
function find(method: string, path: string): Found {
  const route = routeOf((method === 'HEAD' ? 'GET' : method) as Method, path);
  if (!route) throw notFound(path);
  const operation = route.name as OperationName;
  const row: OperationRow = operations[operation];
  const kind = kindOf(row);
  if (method === 'HEAD' && kind === 'stream') throw notFound(path);
  return { operation, row, kind, params: Object.freeze(route.params(path, route.captures(path))) };
}

/** Unknown path and wrong method are one answer; `Allow` tells them apart. */
function notFound(path: string): Refusal {
  const methods = METHODS.filter((method) => routeOf(method, path));
  const head = methods[0] === 'GET' && path !== operations.openStream.path ? ['HEAD'] : [];
  const allowed = [...head, ...methods].join(', ');
  return new Refusal('not_found', 'There is no such operation.', {
    hint: 'service openapi shows what this server offers.',
    ...(allowed === '' ? {} : { headers: { Allow: allowed } }),
  });
}
