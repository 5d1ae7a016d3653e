/** The session of this browser. */
import { signal } from '@preact/signals';
import type { CurrentBrowserSession } from '../../contract/types.ts';

/** Null: nobody is signed in. Undefined: not loaded yet. */
export const session = signal<CurrentBrowserSession | null | undefined>(undefined);

/** Why the last session ended, shown on the sign-in page. */
export const sessionEndReason = signal<string | null>(null);

/** Forgets the session, so that the sign-in page is shown. Drafts are kept. */
export function clearSession(reason: string | null = null): void {
  sessionEndReason.value = reason;
  session.value = null;
}
