/**
 * A Postgres on several servers, of which one takes writes: `postgres://user@a:5432,b:5432/name?target_session_attrs=read-write`,
 * as libpq writes it (https://www.postgresql.org/docs/current/libpq-connect.html). The driver knows only one server in a URL.
 */

const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?@]*)(.*)$/;
const ATTRIBUTE = 'target_session_attrs';
/** What asks for the server that takes writes. */
const WRITABLE = new Set(['read-write', 'primary']);

/** For each URL of several servers the one of them that took writes when it was last asked. */
const writable = new Map<string, string>();

/** A URL for each server that a URL names, in their order; null: it is none of Postgres, or asks for a server to read only. */
export function serversOf(url: string): string[] | null {
  const [, head, hosts = '', rest = ''] = FORM.exec(url) ?? [];
  if (head === undefined) return null;
  const [path = '', query = ''] = rest.split('?');
  const parameters = new URLSearchParams(query);
  const attribute = parameters.get(ATTRIBUTE) ?? 'read-write';
  parameters.delete(ATTRIBUTE);
  const end = parameters.size > 0 ? `${path}?${parameters}` : path;
  const servers = hosts.split(',').map((host) => `${head}${host}${end}`);
  const sound = servers.every((server) => isServer(server));
  // Of a password that is not encoded, the rest would pass for a path or the name of a parameter.
  const slash = path.indexOf('/');
  const cut = slash < 0 ? query.includes('@') : path.includes('@', slash) || /[?&][^=&]*@/.test(rest);
  return sound && !cut && WRITABLE.has(attribute) ? servers : null;
}

function isServer(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, hash } = new URL(url);
  return hostname !== '' && hash === '';
}

/** The servers to try, the one first that took writes before. */
export function serversToTry(url: string): string[] {
  const servers = serversOf(url) ?? [url];
  const known = writable.get(url);
  return known === undefined ? servers : [known, ...servers.filter((server) => server !== known)];
}

/** The server that took writes when it was last asked; undefined: not known. A single one is not asked. */
export function knownServer(url: string): string | undefined {
  const [first, ...others] = serversOf(url) ?? [url];
  return others.length === 0 ? first : writable.get(url);
}

/** Notes which server takes writes. */
export function noteServer(url: string, server: string): void {
  writable.set(url, server);
}

/** The one that was known does not take writes any more. */
export function forgetServer(url: string): void {
  writable.delete(url);
}
