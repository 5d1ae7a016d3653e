/** The code of a sign-in link. */
import { signal } from '@preact/signals';

/** A code that came with the address and is not used up; it was taken out of the address, so that no history has it. */
export const linkedCode = signal<string | null>(null);

/** Takes a code out of the address; call it before anything else reads the address. */
export function takeCode(): void {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return;
  linkedCode.value = code;
  history.replaceState(null, '', location.pathname + location.search);
}
