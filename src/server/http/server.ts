/** The HTTP server around the door: what is set on the platform's own. */
import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';
import type { Clock } from '../db/clock.ts';
import type { Attempts } from '../rates/attempts.ts';
import { type Backend, createApp } from './app.ts';
import { rawRefusal } from './raw.ts';
import type { Site } from './site.ts';

export interface HttpOptions {
  backend: Backend;
  site: Site;
  attempts: Attempts;
  log: Logger;
  clock: Clock;
}

export function createHttp({ backend, site, attempts, log, clock }: HttpOptions): Server {
  const time = { now: () => clock.now(), after: (ms: number, fn: () => void) => clock.after(ms, fn) };
  const app = createApp({ backend, site, attempts, log, ...time });
  const server = createServer(
    { requireHostHeader: false, maxHeaderSize: 65_536, noDelay: true, keepAlive: true },
    app.callback(),
  );
  server.headersTimeout = 10_000;
  server.requestTimeout = 0;
  server.keepAliveTimeout = 65_000;
  // An expectation this server does not know is no reason not to answer.
  server.on('checkExpectation', app.callback());
  server.on('clientError', rawRefusal(site.mode));
  return server;
}
