/** A person's browser sessions: the list, ending them, and the one a page lives in. */
import { Refusal } from '../../contract/errors.ts';
import { requireOwnKey } from '../keys/keys.steps.ts';
import type { BrowserCaller } from '../operation/caller.ts';
import type { ReadCase, WriteCase } from '../operation/usecase.ts';
import { cutPage, readPageToken } from '../text/page-token.ts';
import { callerView } from '../views/person.ts';
import { currentSessionView, factsOf, sessionView } from '../views/session.ts';
import { endSessions, endSessionsOf } from './sessions.steps.ts';
import { liveSessions } from './sessions.store.ts';

export const listBrowserSessions: ReadCase<'listBrowserSessions'>['run'] = async (tx, caller, { query }) => {
  const { limit, key: keyId } = query;
  const personId = caller.person.person_id;
  const after = readPageToken(query.after);
  if (keyId !== undefined) await requireOwnKey(tx, caller, keyId);
  const rows = await liveSessions(tx, { personId, keyId }, { after, limit });
  const { page, next_after } = cutPage(rows, limit);
  return { person: callerView(caller), sessions: page.map(sessionView), next_after };
};

export const endBrowserSession: WriteCase<'endBrowserSession'>['run'] = async (tx, { person }, { params }) => {
  const [session] = await liveSessions(tx, { personId: person.person_id, id: params.session });
  const ended = session ? await endSessions(tx, [session.id]) : [];
  if (!session || ended.length === 0) throw sessionNotFound();
  return { answer: sessionView(session) };
};

export const endAllBrowserSessions: WriteCase<'endAllBrowserSessions'>['run'] = async (tx, { person }) => ({
  answer: { ended: await endSessionsOf(tx, person.person_id) },
});

export const getMyBrowserSession: ReadCase<'getMyBrowserSession'>['run'] = async (_tx, caller, { deps: { root } }) => {
  const { session, credential } = caller as BrowserCaller;
  return currentSessionView(session, root.csrfToken(credential.token));
};

/** Signing out on the page. */
export const endMyBrowserSession: WriteCase<'endMyBrowserSession'>['run'] = async (tx, caller) => {
  const { session, credential } = caller as BrowserCaller;
  await endSessions(tx, [session.session_id]);
  const answer = sessionView(factsOf(session));
  // A session shown as bearer token says nothing about what the browser's cookie holds.
  return credential.cookie ? { answer, cookie: 'clear' } : { answer };
};

const sessionNotFound = (): Refusal =>
  new Refusal('browser_session_not_found', 'You have no such browser session.', {
    hint: 'service key sessions shows those that work.',
  });
