import { lazy as preactLazy } from 'preact/compat';
import { linkedCode } from '../sign-in/linked-code.ts';

const RETRY_DELAY_MS = 1_000;
/** The page is loaded again at most once in this time. */
const MIN_RELOAD_MS = 60_000;
const LAST_RELOAD = 'loaded-again';
/** Whether another part has begun to load this page again. */
let reloading = false;

/** Like `lazy` of preact/compat, but loads as {@link load} does. */
export const lazy: typeof preactLazy = (part) => preactLazy(() => load(part));

/**
 * Loads a part of the page. When that fails, loads the whole page again as soon as the server answers: browsers remember
 * that a module could not be fetched, and a server that was replaced meanwhile has other files.
 */
export async function load<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch (error) {
    do await waitForConnection();
    while (!(await hasServer()));
    if (!reloading && Date.now() - Number(sessionStorage.getItem(LAST_RELOAD)) < MIN_RELOAD_MS) throw error;
    reloading = true;
    sessionStorage.setItem(LAST_RELOAD, String(Date.now()));
    // It was taken out of the address.
    if (linkedCode.peek() !== null) history.replaceState(history.state, '', `#code=${linkedCode.peek()}`);
    location.reload();
    return new Promise(() => {});
  }
}

const hasServer = (): Promise<boolean> =>
  fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Resolves after a delay, or, if the browser is offline, when it is online again. */
const waitForConnection = (): Promise<void> =>
  new Promise((resolve) => {
    if (navigator.onLine) setTimeout(resolve, RETRY_DELAY_MS);
    else addEventListener('online', () => resolve(), { once: true });
  });
