/** The overlay above the page: the palette, the list of keys or the form for a new board. One at a time. */
import { signal } from '@preact/signals';

export type OverlayName = 'palette' | 'keys' | 'new-board';

export const overlay = signal<OverlayName | null>(null);

/** What was typed while the overlay was being loaded. */
export const typedAhead = signal('');

/** Opens an overlay and closes the one that is open. */
export function openOverlay(name: OverlayName): void {
  typedAhead.value = '';
  overlay.value = name;
}

export function closeOverlay(): void {
  overlay.value = null;
}
