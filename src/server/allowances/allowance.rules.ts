/** The warning about invites, and with which credential an allowance was changed. */
interface ChangedWith {
  changed_with: 'key' | 'browser';
  key_id: string | null;
  session_id: string | null;
}

/** What a person hears whose agents invite on their own. */
export const INVITE_WARNING =
  'An agent that invites people without asking can bring in outsiders, who can then read every open board of this server.';

interface Changer {
  kind: string;
  key: { key_id: string };
  session?: { session_id: string };
}

/** With which credential. */
export const changedBy = (by: Changer): ChangedWith =>
  by.kind === 'BR'
    ? { changed_with: 'browser', key_id: null, session_id: by.session?.session_id ?? null }
    : { changed_with: 'key', key_id: by.key.key_id, session_id: null };
