/** Parts of the page that are loaded when they are first shown. */
import { lazy as once } from 'preact/compat';

const TRIES = 4;
const PAUSE_MS = 1_000;

/** A component that is loaded when it is first shown. Without a connection it is loaded once there is one again. */
export const lazy: typeof once = (load) =>
  once(async () => {
    for (let left = TRIES; ; left--) {
      try {
        return await load();
      } catch (error) {
        if (left === 1) throw error;
        await connected();
      }
    }
  });

/** A moment later, and not before the browser has a connection. */
const connected = (): Promise<void> =>
  new Promise((resolve) => {
    if (navigator.onLine) setTimeout(resolve, PAUSE_MS);
    else addEventListener('online', () => resolve(), { once: true });
  });
