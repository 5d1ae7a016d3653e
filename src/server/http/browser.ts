/** What browsers send and get: the session cookie, and the proof that a page of this server made the request. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../contract/errors.ts';
import { patterns } from '../../contract/ids.ts';
import { unauthorized } from '../operation/caller.ts';
import type { Site } from './site.ts';

/** Characters of a credential. Longer ones are none of ours. */
export const MAX_TOKEN = 256;

/** A session secret to put into the browser's cookie, with its end in milliseconds since the epoch; or its removal. */
type CookieChange = { secret: string; expiresAt: number } | 'clear';

/** The `Set-Cookie` header of a change. @param host the request's accepted `Host`. */
export function setCookie(site: Site, host: string, change: CookieChange, now: number): string {
  const { name, secure } = site.cookie(host);
  const [value, maxAge] =
    change === 'clear' ? ['', 0] : [change.secret, Math.max(0, Math.ceil((change.expiresAt - now) / 1000))];
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** What the request's cookies of this server hold: one value usually, none without one. */
export function sessionCookies(req: IncomingMessage, site: Site, host: string): string[] {
  const { name } = site.cookie(host);
  return (req.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
}

/** The session secret among those values. @throws Refusal `unauthorized` when there are several, or an invalid one. */
export function sessionSecret(values: readonly string[]): string {
  const [value] = values;
  if (value === undefined || values.length > 1 || !patterns.sessionSecret.test(value) || value.length > MAX_TOKEN)
    throw unauthorized();
  return value;
}

/** @throws Refusal `origin_not_allowed` unless a page of this server made the request. */
export function checkOrigin(req: IncomingMessage, site: Site, host: string): void {
  const { origin } = req.headers;
  const fetchSite = req.headers['sec-fetch-site'];
  if (origin === site.origin(host) && (fetchSite === undefined || fetchSite === 'same-origin')) return;
  throw originNotAllowed(site);
}

/** @throws Refusal `origin_not_allowed` where the browser says that a page of another site made the request. */
export function refuseOtherSites(req: IncomingMessage, site: Site): void {
  const fetchSite = req.headers['sec-fetch-site'];
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') throw originNotAllowed(site);
}

const originNotAllowed = (site: Site): Refusal =>
  new Refusal('origin_not_allowed', 'Only a page of this server may send this.', {
    hint: `Open ${site.baseUrl()} and do it there.`,
  });

/**
 * Compares in constant time. @param expected the token that belongs to the cookie's session.
 * @throws Refusal `csrf_token_invalid`.
 */
export function checkCsrf(req: IncomingMessage, expected: string): void {
  const given = req.headers['x-service-csrf'];
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(expected)];
  if (a.length === b.length && timingSafeEqual(a, b)) return;
  throw new Refusal('csrf_token_invalid', 'The request lacks the token of its browser session.', {
    hint: 'Reload the page: it then has a current one.',
  });
}
