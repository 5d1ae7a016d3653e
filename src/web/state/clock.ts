/** The clock for all relative times on the page; it ticks once a minute. */
import { signal } from '@preact/signals';

/** Milliseconds since the epoch, as of the last tick. */
export const now = signal(Date.now());

const tick = (): void => {
  now.value = Date.now();
};
setInterval(tick, 60_000);
// Timers stop or slow down while the computer sleeps or the tab is hidden.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) tick();
});
