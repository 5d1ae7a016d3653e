/** The address a team server is known by. */

/**
 * The origin that `https://host[:port]` names, as browsers write it: lower case, the usual port left out.
 * @returns null for anything else: another scheme, a user, a path (even `/`), a query or a fragment.
 */
export function publicOrigin(text: string): string | null {
  if (!/^https:\/\/[^/?#@\\\s]+$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.hostname === '' || /:$/.test(text) || url.port === '0' ? null : url.origin;
}
