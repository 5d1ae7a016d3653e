/** The sign-in page: with the code of a link, after a preview of the person, or with an access key. */
import { useEffect, useState } from 'preact/hooks';
import { newIdempotencyKey } from '../../client/idempotency.ts';
import type { Answer } from '../../contract/types.ts';
import { call, readSession } from '../api/client.ts';
import { hasCode, isOutcomeUnknown } from '../api/errors.ts';
import { session, sessionEndReason } from '../api/session.ts';
import { Mark } from '../parts/icon.tsx';
import { plural } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { agoPhrase } from '../parts/time.tsx';
import { toastError } from '../parts/toast.tsx';
import { Glyph } from '../parts/who.tsx';
import { serverTime } from '../state/clock.ts';
import { linkedCode } from './linked-code.ts';

type Preview = Answer<'previewLoginCode'>;
type Credential = { code: string } | { key: string };

/** When an access key was used before; null: never, or the server does not say. Signing in is a use of it too. */
const previousUse = (key: string): Promise<string | null> =>
  fetch('/v1/keys?limit=1', { headers: { Authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(5_000) })
    .then((response) => response.json() as Promise<Partial<Answer<'listKeys'>>>)
    .then(
      ({ current_key_previous_use: at }) => at ?? null,
      () => null,
    );

const usedElsewhere = (at: string): string =>
  `This key was last used ${agoPhrase(at)}, maybe by another machine or program: revoking it would end both.`;

export function SignIn() {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [switching, setSwitching] = useState<{ credential: Credential; handle: string; usedAt: string | null } | null>(
    null,
  );
  const [busy, setBusy] = useState(false);
  const [tries, setTries] = useState(0);
  const [key, setKey] = useState('');
  const signedIn = session.value;

  const code = linkedCode.value;

  useEffect(() => {
    if (code === null) return;
    setPreview(null);
    setError(null);
    call('previewLoginCode', { body: { code } }).then(
      (found) => {
        // No confirmation if this person is signed in already.
        if (session.peek()?.person.id === found.person.id) return void signIn({ code });
        setPreview(found);
      },
      (reason: unknown) => setError(reason),
    );
  }, [code, tries]);

  // Somebody may have signed in again in another tab.
  useEffect(() => {
    const look = (): void => {
      if (session.peek() === null) void readSession();
    };
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, []);

  const signIn = async (credential: Credential, confirm = false): Promise<void> => {
    setBusy(true);
    setError(null);
    const usedAt = 'key' in credential && !confirm ? await previousUse(credential.key) : null;
    try {
      const body = { ...credential, ...(confirm ? { confirm_switch: true } : {}) };
      const next = await call('createBrowserSession', { body, idempotencyKey: newIdempotencyKey() });
      linkedCode.value = null;
      sessionEndReason.value = null;
      setKey('');
      session.value = next;
      if (usedAt !== null) toastError(usedElsewhere(usedAt));
    } catch (reason) {
      if (hasCode(reason, 'browser_session_switch_unconfirmed'))
        setSwitching({ credential, handle: preview?.person.handle ?? 'another person', usedAt });
      else {
        setError(reason);
        if ('code' in credential) setPreview(null);
      }
    } finally {
      setBusy(false);
    }
  };

  return (
    <main class="door" id="main">
      <Mark size={36} />
      <h1>Sign in to {location.host}</h1>
      {sessionEndReason.value && !error && (
        <p role="status" class="q2">
          {sessionEndReason.value}
        </p>
      )}
      {error !== null && (
        <ProblemLine
          error={error}
          onRetry={code !== null && !preview && isOutcomeUnknown(error) ? () => setTries(tries + 1) : undefined}
        >
          {signedIn && (
            <button
              type="button"
              class="b"
              onClick={() => {
                linkedCode.value = null;
              }}
            >
              Go on as {signedIn.person.handle}
            </button>
          )}
        </ProblemLine>
      )}
      {switching ? (
        <section class="dcard" aria-label="Switch accounts">
          <h2>Switch accounts?</h2>
          <p class="q2">
            This browser is signed in as <b>{signedIn?.person.handle ?? 'somebody else'}</b>. Signing in as{' '}
            <b>{switching.handle}</b> ends that session.
          </p>
          {switching.usedAt !== null && <p class="q2">{usedElsewhere(switching.usedAt)}</p>}
          <div class="row">
            <button type="button" class="b pri" disabled={busy} onClick={() => void signIn(switching.credential, true)}>
              Switch accounts
            </button>
            <button
              type="button"
              class="b"
              onClick={() => {
                setSwitching(null);
                linkedCode.value = null;
              }}
            >
              Stay signed in
            </button>
          </div>
        </section>
      ) : (
        <>
          {preview && (
            <section class="dcard" aria-label="Sign in by link">
              <div class="row wide-gap">
                <Glyph who={{ name: preview.person.handle, kind: 'human', owner: null }} size={40} />
                <div class="sp">
                  <h2>{preview.person.handle}</h2>
                  <p class="q2">
                    with your key <b class="mono">{preview.key.name}</b>
                  </p>
                </div>
              </div>
              <button
                type="button"
                class="b pri big full"
                disabled={busy}
                onClick={() => code !== null && void signIn({ code })}
              >
                Sign in as {preview.person.handle}
              </button>
              <SecondsLeft until={preview.expires_at} />
            </section>
          )}
          {preview && (
            <div class="or">
              <span>or</span>
            </div>
          )}
          <form
            class="dform"
            onSubmit={(event) => {
              event.preventDefault();
              void signIn({ key: key.trim() });
            }}
          >
            <label for="key">
              <h3>Access key</h3>
            </label>
            <div class="row">
              <input
                class="in"
                id="key"
                type="password"
                autocomplete="off"
                required
                placeholder="abh_…"
                aria-describedby="key-hint"
                value={key}
                onInput={(event) => setKey(event.currentTarget.value)}
              />
              <button type="submit" class="b" disabled={busy}>
                Sign in
              </button>
            </div>
            <p class="q2 sm" id="key-hint">
              It stays on this server and is not kept by the page. Easier: run <code class="mono">service open</code> in
              a terminal.
            </p>
          </form>
        </>
      )}
    </main>
  );
}

/** A countdown until the link expires. */
function SecondsLeft({ until }: { until: string }) {
  const left = (): number => Math.max(0, Math.ceil((Date.parse(until) - serverTime()) / 1_000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left()), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return (
    <p class="q2 sm" role="timer">
      {seconds > 0
        ? `This link works once, for ${plural(seconds, 'more second')}. Not you? Close this page.`
        : 'This link has expired. Run service open again.'}
    </p>
  );
}
