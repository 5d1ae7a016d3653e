/** The time as the page shows it: one tick a minute for all relative times. */
import { signal } from '@preact/signals';

/** Milliseconds since the epoch, as of the last tick. */
export const now = signal(Date.now());

const tick = (): void => {
  now.value = Date.now();
};
setInterval(tick, 60_000);
// A laptop that was asleep, or a tab that was hidden, shows the true time when it is looked at again.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) tick();
});
