/** Browser sessions, as their person sees them. */
import type { BrowserSession, CurrentBrowserSession } from '../../contract/types.ts';
import type { SessionFacts } from '../browsers/sessions.store.ts';
import type { SessionRow } from '../keys/credentials.store.ts';
import { timestamp } from '../text/time.ts';
import { callerView } from './person.ts';

export const sessionView = (row: SessionFacts): BrowserSession => ({
  id: row.id,
  key: { id: row.key_id, name: row.key_name },
  started_with: row.started_with,
  created_at: timestamp(row.created_at),
  expires_at: timestamp(row.expires_at),
});

/** What is shown of a session that was found by its secret. */
export const factsOf = (row: SessionRow): SessionFacts => ({
  id: row.session_id,
  key_id: row.key_id,
  key_name: row.key_name,
  started_with: row.session_started_with,
  created_at: row.session_created_at,
  expires_at: row.session_expires_at,
});

/** @param csrfToken the token that belongs to its secret. */
export const currentSessionView = (row: SessionRow, csrfToken: string): CurrentBrowserSession => ({
  ...sessionView(factsOf(row)),
  person: callerView({ person: row }),
  csrf_token: csrfToken,
});
