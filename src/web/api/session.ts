/** The session of this browser. */
import { signal } from '@preact/signals';
import type { CurrentBrowserSession } from '../../contract/types.ts';

/** Null: nobody is signed in. Undefined: not loaded yet. */
export const session = signal<CurrentBrowserSession | null | undefined>(undefined);
/** Why the session could not be loaded the last time. */
export const sessionError = signal<unknown>(null);

/** The person that this page was opened for. */
let person: string | undefined;

// Another person gets a fresh page, because this one and what it stored for a reload hold what the first may see.
session.subscribe((current) => {
  if (!current) return;
  if (person !== undefined && person !== current.person.id) {
    session.value = undefined;
    sessionStorage.clear();
    location.reload();
  } else person = current.person.id;
});

/** Why the last session ended, shown on the sign-in page. */
export const sessionEndReason = signal<string | null>(null);

/** Forgets the session, so that the sign-in page is shown. Drafts are kept. */
export function clearSession(reason: string | null = null): void {
  sessionEndReason.value = reason;
  session.value = null;
}
