/** Calls of the API: the same client as the command line's, with the browser's session instead of a key. */
import { type CallInput, Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { type Page, type PagedName, pages } from '../../client/pages.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Answer, CurrentBrowserSession } from '../../contract/types.ts';
import { session, signedOut } from './session.ts';

/** Adds the proof that this page makes the request. A proof that is no longer valid is read anew, once. */
async function fetchAsPage(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const send = (): Promise<Response> => {
    const headers = new Headers(init.headers);
    const token = session.peek()?.csrf_token;
    if (token !== undefined && init.method !== 'GET') headers.set('X-Service-CSRF', token);
    return fetch(input, { ...init, headers, credentials: 'same-origin' });
  };
  const response = await send();
  if (response.status !== 403 || init.method === 'GET') return response;
  const refusal = (await response
    .clone()
    .json()
    .catch(() => null)) as { error?: { code?: string } } | null;
  if (refusal?.error?.code !== 'csrf_token_invalid') return response;
  return (await renewProof()) ? send() : response;
}

/** Reads the session anew, whose proof that this page makes a request has changed. False: there is none. */
export async function renewProof(): Promise<boolean> {
  const renewed = await fetch('/v1/me/browser-session', { credentials: 'same-origin' });
  if (!renewed.ok) return false;
  session.value = (await renewed.json()) as CurrentBrowserSession;
  return true;
}

export const client = new Client({ origin: location.origin, fetch: fetchAsPage });

/** After a 401 of an operation that needs a session, it has ended. Signing in is refused for another reason. */
function noteEnd(error: unknown, name: OperationName): void {
  if (!(error instanceof ClientError) || error.status !== 401 || name === 'createBrowserSession') return;
  const current = session.peek();
  if (current !== null) signedOut(current ? 'Your session has ended. Sign in again.' : null);
}

/** @throws ClientError as {@link Client.call} does. When the session has ended, the sign-in page comes back too. */
export async function call<Name extends OperationName>(name: Name, input?: CallInput<Name>): Promise<Answer<Name>> {
  try {
    return (await client.call(name, input)).data;
  } catch (error) {
    noteEnd(error, name);
    throw error;
  }
}

/** All pages of a list, one after the other. */
export async function* listAll<Name extends PagedName>(
  name: Name,
  input?: CallInput<Name>,
): AsyncGenerator<Page<Name>> {
  try {
    yield* pages(client, name, input);
  } catch (error) {
    noteEnd(error, name);
    throw error;
  }
}

type Lists<Of> = { [Field in keyof Of]: Of[Field] extends unknown[] ? Field : never }[keyof Of];

/** The records of all pages of a list, which stand under `field` of its answers. */
export async function readAll<Name extends PagedName, Field extends Lists<Page<Name>>>(
  name: Name,
  field: Field,
  input?: CallInput<Name>,
): Promise<Page<Name>[Field]> {
  const all: unknown[] = [];
  for await (const page of listAll(name, input)) all.push(...(page[field] as unknown[]));
  return all as Page<Name>[Field];
}

/**
 * Reads who is signed in: at the start, and when the streams say that their session has ended, which a new sign-in in this
 * browser also does.
 */
export async function readSession(): Promise<void> {
  try {
    session.value = await call('getMyBrowserSession');
  } catch {
    // A 401 has brought the sign-in page already; without a connection the page stays as it is.
    session.value ??= null;
  }
}
