import { lazy as preactLazy } from 'preact/compat';

const MAX_TRIES = 4;
const RETRY_DELAY_MS = 1_000;

/** Like `lazy` of preact/compat, but retries when loading fails, and waits until the browser is online. */
export const lazy: typeof preactLazy = (load) =>
  preactLazy(async () => {
    for (let left = MAX_TRIES; ; left--) {
      try {
        return await load();
      } catch (error) {
        if (left === 1) throw error;
        await waitForConnection();
      }
    }
  });

/** Resolves after a delay, or, if the browser is offline, when it is online again. */
const waitForConnection = (): Promise<void> =>
  new Promise((resolve) => {
    if (navigator.onLine) setTimeout(resolve, RETRY_DELAY_MS);
    else addEventListener('online', () => resolve(), { once: true });
  });
