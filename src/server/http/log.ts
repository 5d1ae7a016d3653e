/** Gives a request the number that names it in its answer and in the log, and logs each when asked for everything. */
import { newId } from '../text/ids.ts';
import type { AppOptions, Step } from './context.ts';

export const logRequest =
  ({ log, clock }: AppOptions): Step =>
  ({ state, res }, next) => {
    const started = clock.now();
    state.requestId = newId('req', started);
    if (!log.isLevelEnabled('debug')) return next();
    res.once('close', () => {
      const { requestId: request, operation } = state;
      log.debug({ request, operation, status: res.statusCode, ms: clock.now() - started }, 'request');
    });
    return next();
  };
