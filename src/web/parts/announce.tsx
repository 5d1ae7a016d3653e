/** What a reader of the screen hears: new messages politely and at most every five seconds, urgent ones at once. */
import { signal } from '@preact/signals';

const polite = signal('');
const assertive = signal('');
const EVERY = 5_000;
let waiting: string | null = null;
let next = 0;

/** Says a text. A later polite one takes the place of one that was not said yet. */
export function announce(text: string, { urgent = false } = {}): void {
  if (urgent) {
    assertive.value = text;
    return;
  }
  const delay = next - Date.now();
  if (delay <= 0) {
    next = Date.now() + EVERY;
    polite.value = text;
    return;
  }
  if (waiting === null)
    setTimeout(() => {
      next = Date.now() + EVERY;
      polite.value = waiting ?? '';
      waiting = null;
    }, delay);
  waiting = text;
}

export const Announcements = () => (
  <>
    <div class="vh" aria-live="polite" data-testid="said">
      {polite.value}
    </div>
    <div class="vh" aria-live="assertive">
      {assertive.value}
    </div>
  </>
);
