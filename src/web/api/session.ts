/** Who is signed in in this browser. */
import { signal } from '@preact/signals';
import type { CurrentBrowserSession } from '../../contract/types.ts';

/** The browser's session; null: nobody is signed in; undefined: not known yet. */
export const session = signal<CurrentBrowserSession | null | undefined>(undefined);

/** Why the last session ended, in words for the sign-in page. */
export const endedBecause = signal<string | null>(null);

/** The session has ended: the sign-in page comes back, and drafts stay where they are. */
export function signedOut(why: string | null = null): void {
  endedBecause.value = why;
  session.value = null;
}
