/** What happens to a request, from top to bottom. Each step is a file; `context.ts` says what one leaves for the next. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import compose from 'koa-compose';
import { serveDescription } from './api-description.ts';
import { limitAttempts, limitAttemptsOfPerson, limitBadCredentials } from './attempts.ts';
import type { AppOptions, State } from './context.ts';
import { readCredential } from './credential.ts';
import { requireKind } from './credential-kind.ts';
import { answerErrors } from './errors.ts';
import { setHeaders } from './headers.ts';
import { requireHost } from './host.ts';
import { requireLimits } from './limits.ts';
import { logRequest } from './log.ts';
import { runOperation } from './operation.ts';
import { servePage } from './page.ts';
import { readHeaders } from './request-head.ts';
import { findRoute } from './route.ts';
import { readShape } from './shape.ts';

/** What serves the requests of an HTTP server; it never rejects. */
export function createApp(options: AppOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const app = new Koa<State>();
  app.use(logRequest(options));
  app.use(setHeaders(options));
  app.use(answerErrors(options));
  app.use(readHeaders);
  app.use(requireHost(options));
  app.use(servePage(options));
  app.use(serveDescription(options));
  app.use(findRoute);
  app.use(limitBadCredentials(options));
  app.use(limitAttempts(options));
  app.use(requireLimits);
  app.use(readCredential(options));
  app.use(requireKind(options));
  app.use(limitAttemptsOfPerson(options));
  app.use(readShape(options));
  app.use(runOperation(options));
  // Not app.callback(): it also watches every socket and writes an answer where no step wrote one, which is 1.0 µs of the 42
  // of a post (2.4 %). Here every answer is written whole by the step that decides it.
  const steps = compose(app.middleware);
  return (req, res) =>
    steps(app.createContext(req, res)).catch((error: unknown) => {
      options.log.error({ err: error }, 'a request could not be answered');
      res.destroy();
    });
}
