/** Signing in on a page: a login code, a pasted key or a stored browser token becomes the session in the browser's cookie. */
import { Refusal } from '../../contract/errors.ts';
import type { Body } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { findKey, findSession, type SessionRow } from '../keys/credentials.store.ts';
import {
  authenticate,
  type BrowserCaller,
  type Caller,
  type Credential,
  challenge,
  credentialOf,
  keyWorks,
  sessionWorks,
  unauthorized,
} from '../operation/caller.ts';
import { invalidField } from '../operation/refusals.rules.ts';
import type { OpenCase } from '../operation/usecase.ts';
import type { RootKey } from '../text/root-key.ts';
import { timestamp } from '../text/time.ts';
import { currentSessionView } from '../views/session.ts';
import { endSessions, keyOfCode, oneAtATime, startSession } from './sessions.steps.ts';
import { dropLoginCodes } from './sessions.store.ts';

type SignIn = Body<'createBrowserSession'>;

/** Somebody who has shown what lets them in; nothing is used up yet. */
interface Entry {
  personId: string;
  /** Whose key this sign-in is a use of. */
  used?: Caller;
  /** Makes the session, or takes over the one that was brought. */
  enter(): Promise<{ session: SessionRow; secret: string }>;
}

export const createBrowserSession: OpenCase<'createBrowserSession'> = {
  prepare(body) {
    const { code, key, token } = body;
    if ([code, key, token].filter((form) => form !== undefined).length === 1) return body;
    const hint = 'Sign in with a login code, an access key or a stored browser token.';
    throw invalidField('code', 'give exactly one of code, key and token', hint);
  },

  async run(tx, source, { body, deps: { root } }) {
    const entry = await entryOf(tx, root, body);
    const before = await sessionOf(tx, source.session);
    if (before && before.person_id !== entry.personId && body.confirm_switch !== true) throw unconfirmed();
    const { session, secret } = await entry.enter();
    if (before && before.session_id !== session.session_id) await endSessions(tx, [before.session_id]);
    return {
      answer: currentSessionView(session, root.csrfToken(secret)),
      cookie: { secret, expiresAt: session.session_expires_at },
      ...(entry.used ? { used: { caller: entry.used, now: tx.now } } : {}),
    };
  },
};

/** A session as bearer token, for clients from before there was a cookie. */
export const createBrowserToken: OpenCase<'createBrowserToken'>['run'] = async (
  tx,
  _source,
  { body, deps: { root } },
) => {
  const entry = await byCode(tx, root, body.code);
  const { session, secret } = await entry.enter();
  return {
    answer: { token: secret, expires_at: timestamp(session.session_expires_at) },
    headers: { Deprecation: 'true', Link: '</v1/browser-sessions>; rel="successor-version"' },
  };
};

/** @throws Refusal `login_code_invalid`, `access_key_invalid`, `unauthorized`, by the form that was brought. */
function entryOf(tx: WriteTx, root: RootKey, { code, key, token }: SignIn): Promise<Entry> {
  if (code !== undefined) return byCode(tx, root, code);
  return key !== undefined ? byKey(tx, root, key) : byToken(tx, root, token ?? '');
}

async function byCode(tx: WriteTx, root: RootKey, code: string): Promise<Entry> {
  const { row, key } = await keyOfCode(tx, root, code, true);
  await oneAtATime(tx, key.person_id);
  return {
    personId: key.person_id,
    async enter() {
      await dropLoginCodes(tx, [row.digest]);
      return startSession(tx, root, key, 'login_code');
    },
  };
}

async function byKey(tx: WriteTx, root: RootKey, token: string): Promise<Entry> {
  const credential: Credential = { kind: 'PK', digest: root.digest(token), token };
  const key = await findKey(tx, credential.digest);
  if (!key || !keyWorks(key, tx.now)) throw keyInvalid();
  await oneAtATime(tx, key.person_id);
  return {
    personId: key.person_id,
    used: await authenticate(tx, credential),
    enter: () => startSession(tx, root, key, 'access_key'),
  };
}

async function byToken(tx: WriteTx, root: RootKey, token: string): Promise<Entry> {
  const credential = credentialOf(token, root);
  // Nothing is told of what another token was.
  if (credential.kind !== 'BR') throw unauthorized();
  const { session } = (await authenticate(tx, credential)) as BrowserCaller;
  return { personId: session.person_id, enter: async () => ({ session, secret: token }) };
}

/** The working session of the browser that asks; null without one. */
async function sessionOf(tx: WriteTx, credential: Credential | null): Promise<SessionRow | null> {
  const session = credential && (await findSession(tx, credential.digest));
  return session && sessionWorks(session, tx.now) ? session : null;
}

const keyInvalid = (): Refusal =>
  new Refusal('access_key_invalid', 'This access key does not work.', {
    hint: 'Paste a whole key that is neither revoked nor expired, or sign in with: service open.',
    headers: challenge,
  });

const unconfirmed = (): Refusal =>
  new Refusal('browser_session_switch_unconfirmed', 'Somebody else is signed in in this browser.', {
    hint: 'Send it again with "confirm_switch": true to sign them out here, or sign out first.',
  });
