/** The code of a sign-in link. */
import { signal } from '@preact/signals';

/** An unused code from the address. It is removed from the address to keep it out of the history. */
export const linkedCode = signal<string | null>(null);

/** Takes a code out of the address. Call it before anything else reads the address. */
export function takeCode(): void {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return;
  linkedCode.value = code;
  history.replaceState(null, '', location.pathname + location.search);
}
