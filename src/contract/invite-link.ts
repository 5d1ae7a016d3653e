/** The link that carries a server invite: its secret stands in the fragment, which no browser sends. */
import { patterns } from './ids.ts';

/** @param baseUrl of the server, without a slash at its end. */
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
