/** What lies over the page: the palette, the list of keys, the form of a new board. One at a time. */
import { signal } from '@preact/signals';

export type Over = 'palette' | 'keys' | 'new-board';

export const over = signal<Over | null>(null);

/** Opens it in place of what is over the page now. */
export function openOver(what: Over): void {
  over.value = what;
}

/** Closes what is over the page. */
export function closeOver(): void {
  over.value = null;
}
