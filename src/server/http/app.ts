/** The HTTP door: one declared order of steps for every request, taken from its row in the operations table. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa, { type Context } from 'koa';
import type { Logger } from 'pino';
import { Refusal } from '../../contract/errors.ts';
import { CHALLENGE_HEADER } from '../../contract/local-proof.ts';
import type { OperationRow } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { type Credential, unauthorized } from '../operation/caller.ts';
import { refusedKind } from '../operation/gate.ts';
import type { Keyed, Reply } from '../operation/run.ts';
import type { Incoming } from '../operation/upload.ts';
import type { Door, Input } from '../operation/usecase.ts';
import type { Attempts } from '../rates/attempts.ts';
import { clientOf } from './address.ts';
import { prepareHead, send } from './answer.ts';
import { countBadCredential, enterAs, limitAttempts, noteRefusal, requireFewBad } from './attempts.ts';
import { readBody } from './body.ts';
import { checkCsrf, checkOrigin, sessionCookies, sessionSecret, setCookie } from './browser.ts';
import { bearerOf } from './credential.ts';
import { type Sendable, sendBytes } from './download.ts';
import { requestErrors } from './errors.ts';
import { checkHost } from './host.ts';
import { checkKeySyntax, requestHash } from './keyed.ts';
import { checkLimits, MAX_JSON, MAX_OPEN, malformed } from './limits.ts';
import { parseBody, parseParams, parseQuery } from './parse.ts';
import { one, readHead } from './request-head.ts';
import { Routes } from './routes.ts';
import type { Site } from './site.ts';
import { incomingBytes } from './upload.ts';

/** What the door needs from behind it; it knows no area. */
export interface Backend {
  /** What a token is, told by its form alone. @throws Refusal */
  credential(token: string): Credential;
  /**
   * Reads a credential outside of any operation; counts as a use, and as a request for the operation that is named.
   * Answers whose it is. @throws Refusal unless it works.
   */
  resolve(credential: Credential, name?: OperationName): Promise<{ personId: string }>;
  /** The token that a browser session's page sends with every write. */
  csrfToken(sessionSecret: string): string;
  /** What the server tells everybody about itself. */
  info(): unknown;
  /** The headers with which a server of one machine proves to whoever has its data folder that it runs on it. */
  proof(challenge: unknown): Record<string, string>;
  read(name: OperationName, credential: Credential, input: AnyInput): Promise<unknown>;
  wait(name: OperationName, credential: Credential, input: AnyInput, gone: AbortSignal): Promise<unknown>;
  write(name: OperationName, credential: Credential, input: AnyInput, keyed: Keyed | null): Promise<Reply>;
  /** Runs an operation that asks nobody to sign in. */
  open(name: OperationName, door: Door, input: AnyInput, gone: AbortSignal): Promise<Reply>;
  /** Takes over the response for a live stream. @throws Refusal before anything is written. */
  stream(credential: Credential, input: AnyInput, req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Runs a write whose body is bytes. */
  upload(name: OperationName, credential: Credential, input: AnyInput, incoming: Incoming): Promise<Reply>;
  /** Bytes that the caller may read. @throws Refusal */
  download(name: OperationName, credential: Credential, input: AnyInput): Promise<Sendable>;
  kindOf(name: OperationName): 'info' | 'open' | 'read' | 'wait' | 'write' | 'stream' | 'upload' | 'download';
  /** Runs the pure step of a write before its transaction. */
  prepare(name: OperationName, body: unknown): unknown;
  /** The API description. */
  description(): object;
}

export type AnyInput = Input<never, unknown>;

export interface AppOptions {
  backend: Backend;
  site: Site;
  attempts: Attempts;
  log: Logger;
  now(): number;
  /** A timer: calls `fn` after `ms` milliseconds unless the returned function is called first. */
  after(ms: number, fn: () => void): () => void;
}

/**
 * What serves a request, whatever it is; it never rejects. The framework gives each request its context and nothing else:
 * every answer is written whole by what decides it, so composing functions and watching sockets would be for nothing.
 */
export function createApp(options: AppOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const app = new Koa();
  const routes = new Routes();
  for (const name of Object.keys(operations) as OperationName[]) addRoute(routes, name, options);
  routes.add('GET', '/openapi.json', (ctx) => describe(ctx, options));
  routes.add('GET', '/', (ctx) => {
    const text = 'This is a board service. It was built without the web page; use the command line: service --help\n';
    send(ctx, 200, text, {}, 'text/plain; charset=utf-8');
  });

  const outermost = requestErrors(options, (ctx, error) => countBadCredential(ctx, error, options));
  const inner = async (ctx: Context): Promise<void> => {
    const head = readHead(ctx.req);
    ctx.state['head'] = head;
    ctx.state['host'] = checkHost(head.host, ctx.req.url ?? '', options.site);
    const route = routes.find(ctx.req.method ?? '', ctx.path);
    if (!route) throw notFound(ctx, routes);
    ctx['params'] = route.params;
    await route.handle(ctx);
  };
  return (req, res) => {
    const ctx = app.createContext(req, res);
    return outermost(ctx, () => inner(ctx)).catch((error: unknown) => {
      options.log.error({ err: error }, 'a request could not be answered');
      res.destroy();
    });
  };
}

const limited = limitAttempts(serve);

function addRoute(routes: Routes, name: OperationName, options: AppOptions): void {
  const row = operations[name];
  const path = row.path.replaceAll(/\{([a-z_]+)\}/g, ':$1');
  routes.add(row.method, path, async (ctx) => {
    ctx.state['operation'] = name;
    if (ctx.method === 'HEAD' && options.backend.kindOf(name) === 'stream') throw notFound(ctx, routes);
    await limited(ctx, name, options);
  });
}

/**
 * The declared order from the header limits on; identity.md calls these steps 4 to 10. The credential is read in the operation's
 * own transaction. Only where the request's shape is refused is it read before that, because its refusal comes first.
 */
async function serve(ctx: Context, name: OperationName, options: AppOptions): Promise<void> {
  const { backend } = options;
  const kind = backend.kindOf(name);
  const limit = kind === 'upload' ? Number.POSITIVE_INFINITY : kind === 'open' ? MAX_OPEN : MAX_JSON;
  checkLimits(ctx.req, ctx.state['head'], limit);
  if (kind === 'info') {
    return send(ctx, 200, JSON.stringify(backend.info()), backend.proof(ctx.req.headers[CHALLENGE_HEADER]));
  }
  if (kind === 'open') return serveOpen(ctx, name, options);
  const credential = credentialOf(ctx, options);
  const resolve = (counted?: OperationName) => backend.resolve(credential, counted);
  const wrong = refusedKind(name, credential.kind, {
    params: (ctx['params'] ?? {}) as Record<string, string>,
    query: ctx.querystring,
    baseUrl: () => options.site.baseUrl(),
  });
  if (wrong !== null) {
    await resolve();
    throw wrong;
  }
  if (options.attempts.counts(name, 'person')) await enterAs(ctx, name, options, await resolve());
  const { input, keyed, incoming } = await shapeOf(ctx, name, options, resolve).catch(async (error) => {
    await resolve(name);
    throw error;
  });
  switch (kind) {
    case 'read':
      return send(ctx, 200, JSON.stringify(await backend.read(name, credential, input)));
    case 'wait':
      return send(ctx, 200, JSON.stringify(await backend.wait(name, credential, input, goneSignal(ctx.res))));
    case 'stream':
      prepareHead(ctx);
      await backend.stream(credential, input, ctx.req, ctx.res);
      return;
    case 'write':
      return sendReply(ctx, await backend.write(name, credential, input, keyed), options);
    case 'upload':
      if (!incoming) throw new Error(`${name} has no bytes`);
      return sendReply(ctx, await backend.upload(name, credential, input, incoming), options);
    case 'download':
      return sendBytes(ctx, await backend.download(name, credential, input), options.log);
  }
}

/** The credential of a request, told by its form alone; of a browser's write its origin and token first. @throws Refusal */
function credentialOf(ctx: Context, { backend, site }: AppOptions): Credential {
  const bearer = bearerOf(ctx.state['head'].authorization);
  if (bearer !== null) return backend.credential(bearer);
  const cookies = sessionCookies(ctx.req, site, ctx.state['host']);
  if (cookies.length === 0) throw unauthorized();
  const writes = ctx.method !== 'GET' && ctx.method !== 'HEAD';
  if (writes) checkOrigin(ctx.req, site, ctx.state['host']);
  const secret = sessionSecret(cookies);
  if (writes) checkCsrf(ctx.req, backend.csrfToken(secret));
  return { ...backend.credential(secret), cookie: true };
}

/** An operation for which nobody signs in: a credential sent along is neither checked nor recorded. */
async function serveOpen(ctx: Context, name: OperationName, options: AppOptions): Promise<void> {
  const { backend, site, after } = options;
  const { credentials, origin }: OperationRow = operations[name];
  if (origin) checkOrigin(ctx.req, site, ctx.state['host']);
  const bearer = credentials.length > 0 ? bearerOf(ctx.state['head'].authorization) : null;
  checkKeySyntax(ctx.state['head'].idempotencyKey);
  const bytes = await readBody(ctx.req, async () => {}, after, MAX_OPEN);
  const door = {
    ...clientOf(ctx.req, site.mode),
    session: origin ? ownSession(ctx, options) : null,
    bearer,
  };
  const input = inputOf(ctx, name, backend, bytes);
  return sendReply(ctx, await backend.open(name, door, input, goneSignal(ctx.res)), options);
}

/** The session of the browser that signs in; whatever else its cookie holds keeps nobody from signing in. */
function ownSession(ctx: Context, { backend, site }: AppOptions): Credential | null {
  if (ctx.req.headers.authorization !== undefined) return null;
  try {
    return backend.credential(sessionSecret(sessionCookies(ctx.req, site, ctx.state['host'])));
  } catch {
    return null;
  }
}

function sendReply(ctx: Context, { status, body, replayed, cookie, headers }: Reply, options: AppOptions): void {
  const more: Record<string, string> = { ...headers };
  if (replayed) more['Idempotent-Replayed'] = 'true';
  if (cookie) more['Set-Cookie'] = setCookie(options.site, ctx.state['host'], cookie, options.now());
  if (status >= 400 && !replayed) noteRefusal(ctx, body);
  send(ctx, status, body, more);
}

/** Key, body and parameters. @param resolve checks the credential. @throws Refusal */
async function shapeOf(
  ctx: Context,
  name: OperationName,
  { backend, after }: AppOptions,
  resolve: () => Promise<unknown>,
): Promise<{ input: AnyInput; keyed: Keyed | null; incoming?: Incoming }> {
  const row: OperationRow = operations[name];
  if (row.bytes === 'request') {
    const incoming = incomingBytes(ctx, checkKeySyntax(ctx.state['head'].idempotencyKey), after);
    return { input: inputOf(ctx, name, backend, null), keyed: null, incoming };
  }
  const writes = row.method !== 'GET';
  const key = writes ? checkKeySyntax(ctx.state['head'].idempotencyKey) : null;
  if (key === null && row.keyRequired) throw malformed('Idempotency-Key', 'is required here');
  const bytes = writes ? await readBody(ctx.req, resolve, after, MAX_JSON) : null;
  const keyed =
    key === null || bytes === null
      ? null
      : { key, requestHash: requestHash(ctx.req, one(ctx.state['head'].contentType), bytes) };
  if (bytes !== null && row.maxBody !== undefined && bytes.length > row.maxBody) {
    throw malformed('body', `is larger than ${row.maxBody} bytes`);
  }
  return { input: inputOf(ctx, name, backend, bytes, key), keyed };
}

function inputOf(
  ctx: Context,
  name: OperationName,
  backend: Backend,
  bytes: Buffer | null,
  key: string | null = null,
): AnyInput {
  return {
    params: parseParams(name, ctx['params'] as Record<string, string>),
    query: parseQuery(name, ctx.querystring),
    body: bytes === null ? undefined : backend.prepare(name, parseBody(name, ctx.state['head'].contentType, bytes)),
    requestId: ctx.state['requestId'],
    idempotencyKey: key ?? undefined,
  } as AnyInput;
}

async function describe(ctx: Context, options: AppOptions): Promise<void> {
  requireFewBad(ctx, options);
  await options.backend.resolve(credentialOf(ctx, options));
  send(ctx, 200, JSON.stringify(options.backend.description()));
}

/** Aborts when the client goes away before it has its answer. */
function goneSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (res.closed || res.destroyed) controller.abort();
  // An answer that has gone out is the usual end, and aborting costs more than writing it.
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** Unknown path and wrong method are one answer; `Allow` tells them apart. */
function notFound(ctx: Context, routes: Routes): Refusal {
  const allowed = routes.methodsOf(ctx.path);
  const stream = ctx.path === operations.openStream.path;
  const allow = (stream ? allowed.filter((method) => method !== 'HEAD') : allowed).join(', ');
  return new Refusal('not_found', 'There is no such operation.', {
    hint: 'service openapi shows what this server offers.',
    ...(allow === '' ? {} : { headers: { Allow: allow } }),
  });
}
