/** The HTTP door: one declared order of steps for every request, taken from its row in the operations table. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { type Caller, type Credential, gate } from '../operation/caller.ts';
import type { Keyed, Reply } from '../operation/run.ts';
import type { Input } from '../operation/usecase.ts';
import { bearerOf } from './bearer.ts';
import { readBody } from './body.ts';
import { requestErrors } from './errors.ts';
import { securityHeaders } from './headers.ts';
import { checkHost, type HostRule } from './host.ts';
import { checkKeySyntax, requestHash } from './keyed.ts';
import { checkLimits } from './limits.ts';
import { parseBody, parseParams, parseQuery } from './parse.ts';

/** What the door needs from behind it; it knows no area. */
export interface Backend {
  /** Resolves a credential outside of any operation. @throws Refusal */
  resolve(token: string): Promise<{ credential: Credential; caller: Caller }>;
  /** Answers an operation that needs no caller. */
  open: Partial<Record<OperationName, () => unknown>>;
  read(name: OperationName, credential: Credential, input: AnyInput): Promise<unknown>;
  wait(name: OperationName, caller: Caller, input: AnyInput, gone: AbortSignal): Promise<unknown>;
  write(name: OperationName, credential: Credential, input: AnyInput, keyed: Keyed | null): Promise<Reply>;
  /** Takes over the response for a live stream. @throws Refusal before anything is written. */
  stream(caller: Caller, input: AnyInput, req: IncomingMessage, res: ServerResponse): Promise<void>;
  kindOf(name: OperationName): 'open' | 'read' | 'wait' | 'write' | 'stream';
  /** Runs the pure step of a write before its transaction. */
  prepare(name: OperationName, body: unknown): unknown;
  /** The API description. */
  description(): object;
}

export type AnyInput = Input<never, unknown>;

export interface AppOptions {
  backend: Backend;
  host: HostRule;
  log: Logger;
  now(): number;
}

export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  app.silent = true;
  const router = new Router({ strict: true, sensitive: true });
  for (const name of Object.keys(operations) as OperationName[]) addRoute(router, name, options.backend);
  router.get('/openapi.json', (ctx) => describe(ctx, options.backend));
  router.get('/', (ctx) => {
    ctx.type = 'text/plain';
    ctx.body = 'This is a board service. It was built without the web page; use the command line: service --help\n';
  });

  app.use(requestErrors(options.log, options.now));
  app.use((ctx, next) => {
    securityHeaders(ctx);
    checkHost(ctx.req, options.host);
    return next();
  });
  app.use(router.routes());
  app.use((ctx) => {
    throw notFound(ctx);
  });
  return app;
}

function addRoute(router: Router, name: OperationName, backend: Backend): void {
  const row = operations[name];
  const path = row.path.replaceAll(/\{([a-z_]+)\}/g, ':$1');
  const method = row.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
  router[method](path, async (ctx) => {
    ctx.state['operation'] = name;
    if (ctx.method === 'HEAD' && backend.kindOf(name) === 'stream') throw notFound(ctx);
    await serve(ctx, name, backend);
  });
}

/** The declared order from the route on; identity.md calls these steps 4 to 10. */
async function serve(ctx: Context, name: OperationName, backend: Backend): Promise<void> {
  const row = operations[name];
  checkLimits(ctx.req);
  const kind = backend.kindOf(name);
  if (kind === 'open') {
    send(ctx, 200, Buffer.from(JSON.stringify(backend.open[name]?.())));
    return;
  }
  const { credential, caller } = await backend.resolve(bearerOf(ctx.req));
  gate(credential.kind, row.credentials);
  const key = row.method === 'GET' ? null : checkKeySyntax(ctx.req);
  const bytes = row.method === 'GET' ? null : await readBody(ctx.req);
  const input = {
    params: parseParams(name, ctx['params'] as Record<string, string>),
    query: parseQuery(name, ctx.querystring),
    body: bytes === null ? undefined : backend.prepare(name, parseBody(name, ctx.req, bytes)),
  } as AnyInput;
  switch (kind) {
    case 'read':
      return send(ctx, 200, json(await backend.read(name, credential, input)));
    case 'wait':
      return send(ctx, 200, json(await backend.wait(name, caller, input, goneSignal(ctx.res))));
    case 'stream':
      await backend.stream(caller, input, ctx.req, ctx.res);
      ctx.respond = false;
      return;
    case 'write': {
      const keyed = key === null || bytes === null ? null : { key, requestHash: requestHash(ctx.req, bytes) };
      const reply = await backend.write(name, credential, input, keyed);
      if (reply.replayed) ctx.set('Idempotent-Replayed', 'true');
      return send(ctx, reply.status, reply.body);
    }
  }
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function send(ctx: Context, status: number, body: Buffer): void {
  ctx.status = status;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = body;
}

async function describe(ctx: Context, backend: Backend): Promise<void> {
  await backend.resolve(bearerOf(ctx.req));
  send(ctx, 200, json(backend.description()));
}

/** Aborts when the client goes away before it has its answer. */
function goneSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => controller.abort());
  return controller.signal;
}

/** Unknown path and wrong method are one answer; `Allow` tells them apart. */
function notFound(ctx: Context): Refusal {
  const layers = (ctx['matched'] ?? []) as { methods: string[] }[];
  const allowed = [...new Set(layers.flatMap((layer) => layer.methods))];
  const stream = ctx.state['operation'] === 'openStream';
  const allow = (stream ? allowed.filter((method) => method !== 'HEAD') : allowed).join(', ');
  return new Refusal('not_found', 'There is no such operation.', {
    hint: 'GET /openapi.json describes what this server offers.',
    ...(allow === '' ? {} : { headers: { Allow: allow } }),
  });
}
