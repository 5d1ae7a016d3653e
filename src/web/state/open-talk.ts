/** The conversation that is open. Separate from its parts, which what only scrolls it does not need. */
import { type Signal, signal } from '@preact/signals';
import type { Talk } from '../timeline/context.ts';

/** Null: none. */
export const openTalk: Signal<Talk | null> = signal(null);
