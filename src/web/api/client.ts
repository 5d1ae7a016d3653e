/** The API client of the page. It uses the browser's session instead of an access key. */
import { type CallInput, Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { type Page, type PagedName, pages, type Repeat } from '../../client/pages.ts';
import type { OperationName } from '../../contract/operations.ts';
import { routes } from '../../contract/routes.ts';
import type { Answer, CurrentBrowserSession } from '../../contract/types.ts';
import { setServerTime } from '../state/clock.ts';
import { endsSession } from './errors.ts';
import { clearSession, session, sessionError } from './session.ts';

/** Adds the CSRF token to requests that write. If the server refuses the token, renews it and retries once. */
async function fetchWithCsrf(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const send = (): Promise<Response> => {
    const headers = new Headers(init.headers);
    const token = session.peek()?.csrf_token;
    if (token !== undefined && init.method !== 'GET') headers.set('X-Service-CSRF', token);
    return fetch(input, { ...init, headers, credentials: 'same-origin' });
  };
  const response = await send();
  setServerTime(response.headers.get('date'));
  if (response.status !== 403 || init.method === 'GET') return response;
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { error?: { code?: string } } | null;
  if (body?.error?.code !== 'csrf_token_invalid') return response;
  return (await renewCsrfToken()) ? send() : response;
}

/** Loads the session again for its new CSRF token. Returns false if there is no session. */
export async function renewCsrfToken(): Promise<boolean> {
  const response = await fetch('/v1/me/browser-session', { credentials: 'same-origin' });
  if (!response.ok) return false;
  session.value = (await response.json()) as CurrentBrowserSession;
  return true;
}

class PageClient extends Client {
  /** Calls on their way that do nothing more when they are sent a second time. */
  private readonly repeatable = new Set<AbortController>();

  /** Sends these calls again now: the connection that they went out on may be dead, which nobody tells. */
  repeat(): void {
    for (const sent of this.repeatable) sent.abort();
  }

  override async call<Name extends OperationName>(
    name: Name,
    input: CallInput<Name> = {},
  ): ReturnType<typeof Client.prototype.call<Name>> {
    const { method, idempotency } = routes[name];
    const { signal, idempotencyKey } = input;
    if (method !== 'GET' && (idempotency !== 'K' || idempotencyKey === undefined)) return super.call(name, input);
    for (let again = false; ; again = true) {
      const sent = new AbortController();
      this.repeatable.add(sent);
      try {
        const stop = signal ? AbortSignal.any([signal, sent.signal]) : sent.signal;
        return await super.call(name, { ...input, signal: stop });
      } catch (error) {
        // The answer to what was sent before may be the one that was lost.
        if (again && error instanceof ClientError) error.attempts++;
        if (!sent.signal.aborted || signal?.aborted) throw error;
      } finally {
        this.repeatable.delete(sent);
      }
    }
  }
}

export const client = new PageClient({ origin: location.origin, fetch: fetchWithCsrf });

/** Shows the sign-in page after a 401. A failed sign-in also answers 401, but ends no session. */
function handleSessionEnd(error: unknown, name: OperationName): void {
  if (!endsSession(error) || name === 'createBrowserSession') return;
  const current = session.peek();
  if (current !== null) clearSession(current ? 'Your session has ended. Sign in again.' : null);
}

/** Calls an operation. Shows the sign-in page if the session has ended. @throws ClientError */
export async function call<Name extends OperationName>(name: Name, input?: CallInput<Name>): Promise<Answer<Name>> {
  try {
    return (await client.call(name, input)).data;
  } catch (error) {
    handleSessionEnd(error, name);
    throw error;
  }
}

/** Iterates over all pages of a list. @throws ClientError */
export async function* listAll<Name extends PagedName>(
  name: Name,
  input?: CallInput<Name>,
  request?: Repeat,
): AsyncGenerator<Page<Name>> {
  try {
    yield* pages(client, name, input, request);
  } catch (error) {
    handleSessionEnd(error, name);
    throw error;
  }
}

type ListField<T> = { [Field in keyof T]: T[Field] extends unknown[] ? Field : never }[keyof T];

/** Loads all pages of a list and joins their `field`. @throws ClientError */
export async function readAll<Name extends PagedName, Field extends ListField<Page<Name>>>(
  name: Name,
  field: Field,
  input?: CallInput<Name>,
): Promise<Page<Name>[Field]> {
  const all: unknown[] = [];
  for await (const page of listAll(name, input)) all.push(...(page[field] as unknown[]));
  return all as Page<Name>[Field];
}

/**
 * Loads the current session: at the start, and when the streams report that theirs has ended. A new sign-in in this
 * browser ends the old session too.
 */
export async function readSession(): Promise<void> {
  try {
    session.value = await call('getMyBrowserSession');
    sessionError.value = null;
  } catch (error) {
    // After a 401 the sign-in page is already shown. Without a connection a known session stays.
    sessionError.value = error;
  }
}
