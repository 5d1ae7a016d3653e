/** Waits for a server that takes no more requests for now, while a whole list is read or a file is sent. */
import { ClientError } from './errors.ts';
import { MAX_ATTEMPTS } from './limits.ts';
import type { Repeat } from './pages.ts';

/** The longest window of a server's rates, in seconds. */
const WINDOW = 60;

/**
 * Sends the request for a page of a whole list. Where the server takes no more requests for now, it is sent once it does:
 * what was read until then would be lost.
 *
 * @param pause waits this many seconds @param attempts after how many it is given up
 */
export const waitWhenLimited =
  (pause: (seconds: number) => Promise<void>, attempts = MAX_ATTEMPTS): Repeat =>
  async (send) => {
    for (let n = 1; ; n++) {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof ClientError) || error.code !== 'rate_limited' || n === attempts) throw error;
        const { retryAfter = Number.POSITIVE_INFINITY } = error;
        if (retryAfter > WINDOW) throw error;
        await pause(retryAfter);
      }
    }
  };
