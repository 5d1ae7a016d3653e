/** Browsers: login codes, signing in, sessions. */
import { z } from 'zod';
import { patterns } from '../ids.ts';
import { directoryQuery, id, keyName, nextAfter, person, text, time } from './common.ts';

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

/** What somebody pasted or a link carried; whether it works is not a matter of its form. */
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
