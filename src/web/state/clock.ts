/** The clock for all relative times on the page; it ticks once a minute. */
import { computed, signal } from '@preact/signals';

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

/** Less is no difference: answers tell whole seconds, and are on their way for a while. */
const LEAST_DIFFERENCE_MS = 5_000;
/** By how many milliseconds the server's clock is ahead of this computer's. */
const ahead = signal(0);

/** Takes the server's time from the `Date` header of an answer that has just come. */
export function setServerTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (Math.abs(difference - ahead.peek()) >= LEAST_DIFFERENCE_MS) ahead.value = difference;
}

/** The server's time at this moment, in milliseconds since the epoch. */
export const serverTime = (): number => Date.now() + ahead.peek();

/** `now` by the server's clock, which decides when a default applies. */
export const serverNow = computed(() => now.value + ahead.value);
