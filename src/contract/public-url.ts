/** The address a team server is known by. */

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
