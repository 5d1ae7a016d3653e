/** The address a team server is known by. */

/** Names of this machine for which clients say 127.0.0.1, so that a server would not know itself by them. */
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
