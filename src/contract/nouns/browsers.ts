/** Browsers: login codes, signing in, sessions. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { del, get, type OperationRow, post } from '../operation.ts';
import { directoryQuery, id, keyName, nextAfter, person, text, time } from '../schemas.ts';

const keyOfSession = z.strictObject({ id: id('key'), name: keyName });

export const browserSession = z.strictObject({
  id: id('ses'),
  /** The session ends with this key. */
  key: keyOfSession,
  started_with: z.enum(['login_code', 'access_key']),
  created_at: time,
  expires_at: time,
});

/** The session a request came with, for the page that lives in it. */
export const currentBrowserSession = browserSession.extend({ person, csrf_token: z.string() });

export const loginCode = z.strictObject({ code: z.string().regex(patterns.loginCode), expires_at: time });

/** A code that was pasted or came with a link. Only its length is validated here; whether it works is checked on use. */
const pasted = text(200);

export const previewLoginCodeBody = z.strictObject({ code: pasted });
export const loginCodePreview = z.strictObject({ person, key: keyOfSession, expires_at: time });

export const createBrowserSessionBody = z.strictObject({
  code: pasted.optional(),
  key: pasted.optional(),
  token: pasted.optional(),
  confirm_switch: z.boolean().optional(),
});

export const listBrowserSessionsQuery = directoryQuery.extend({ key: id('key').optional() });
export const browserSessionList = z.strictObject({ person, sessions: z.array(browserSession), next_after: nextAfter });

export const createBrowserTokenBody = z.strictObject({ code: pasted });
export const browserToken = z.strictObject({ token: z.string().regex(patterns.sessionSecret), expires_at: time });

export const endedSessions = z.strictObject({ ended: z.int().min(0) });

export const about = 'Signing in and out on the page.';

export const operations = {
  createLoginCode: {
    ...post('/v1/login-codes', ['PK'], 'Make a one-time code that signs a browser in'),
    idempotency: 'S',
    ok: [201],
    rates: ['login_codes'],
    answer: loginCode,
  },
  previewLoginCode: {
    ...post('/v1/login-codes/preview', [], 'Show whom a login code signs in, without using it up'),
    kind: 'open',
    idempotency: 'N',
    origin: true,
    rates: ['sign_in_attempts', 'sign_in_failures'],
    body: previewLoginCodeBody,
    errors: ['login_code_invalid'],
    answer: loginCodePreview,
  },
  createBrowserSession: {
    ...post('/v1/browser-sessions', [], 'Sign a browser in with a login code, an access key or a browser token'),
    kind: 'open',
    idempotency: 'S',
    ok: [201],
    origin: true,
    rates: ['sign_in_attempts', 'sign_in_failures'],
    body: createBrowserSessionBody,
    errors: ['unauthorized', 'access_key_invalid', 'login_code_invalid', 'browser_session_switch_unconfirmed'],
    answer: currentBrowserSession,
  },
  listBrowserSessions: {
    ...get('/v1/browser-sessions', ['PK'], "List the person's live browser sessions"),
    query: listBrowserSessionsQuery,
    errors: ['key_not_found'],
    answer: browserSessionList,
  },
  endBrowserSession: {
    ...del('/v1/browser-sessions/{session}', ['PK'], "End one of the person's browser sessions"),
    params: z.object({ session: id('ses') }),
    errors: ['browser_session_not_found'],
    answer: browserSession,
  },
  getMyBrowserSession: {
    ...get('/v1/me/browser-session', ['BR'], 'The browser session of this request, with its CSRF token'),
    answer: currentBrowserSession,
  },
  endMyBrowserSession: {
    ...del('/v1/me/browser-session', ['BR'], 'Sign this browser out'),
    idempotency: 'N',
    answer: browserSession,
  },
  createBrowserToken: {
    ...post('/v1/browser-tokens', [], 'A browser session as bearer token'),
    kind: 'open',
    idempotency: 'S',
    ok: [201],
    deprecated: true,
    rates: ['sign_in_attempts', 'sign_in_failures'],
    body: createBrowserTokenBody,
    errors: ['login_code_invalid'],
    answer: browserToken,
  },
  endAllBrowserSessions: {
    ...del('/v1/browser-tokens', ['PK'], "End all of the person's browser sessions"),
    answer: endedSessions,
  },
} as const satisfies Record<string, OperationRow>;
