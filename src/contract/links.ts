/** The address that a team server is known by, and the link with an invite to it. */
import { patterns } from './ids.ts';

/** Names of this machine that `service` calls 127.0.0.1, a host that a server with such a public URL does not answer. */
const RENAMED = new Set(['localhost', '[::1]']);

/**
 * The origin that `https://host[:port]` names, as browsers write it: lower case, the usual port left out.
 * @returns null for anything else: another scheme, a user, a path (even `/`), a query, a fragment, `localhost` or `[::1]`.
 */
export function publicOrigin(text: string): string | null {
  if (!/^https:\/\/[^/?#@\\\s]+$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const unusable = url.hostname === '' || RENAMED.has(url.hostname) || /:$/.test(text) || url.port === '0';
  return unusable ? null : url.origin;
}

/**
 * The link that carries a server invite: its secret stands in the fragment, which no browser sends.
 * @param baseUrl of the server, without a slash at its end.
 */
export const inviteLink = (baseUrl: string, secret: string): string => `${baseUrl}/join#${secret}`;

/** Parses a link; null if it is not an invite link. */
export function readInviteLink(text: string): { origin: string; secret: string } | null {
  if (!URL.canParse(text.trim())) return null;
  const url = new URL(text.trim());
  if (!/^https?:$/.test(url.protocol) || url.pathname !== '/join' || url.search !== '') return null;
  if (url.username !== '' || url.password !== '') return null;
  const secret = url.hash.slice(1);
  return patterns.invite.test(secret) ? { origin: url.origin, secret } : null;
}
