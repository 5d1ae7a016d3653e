/** How a repository is called everywhere, so that clones of it on several machines are known as one. */

import { codePoints } from './text.ts';

/** Most characters of a name. */
export const LONGEST_NAME = 300;

/** An address without user and password, also where the password has characters that an address would have to escape. */
export function withoutCredentials(url: string): string {
  const { length } = /^(?:[a-z][a-z0-9+.-]*:\/+|\/\/)?/i.exec(url)![0];
  // A colon before a number and a slash is that of a port.
  return url.slice(0, length) + url.slice(length).replace(/^(?:[^/:@]*|[^:@]*:(?!\d+\/)[^@]*)@/, '');
}

/**
 * Host and path of a repository's address: without its protocol, user, password and `.git`. Null for a path on one machine.
 */
export function repoName(url: string): string | null {
  const address = withoutCredentials(url);
  const [, host, path] =
    /^[a-z][a-z0-9+.-]*:\/\/([^/@]+)\/(.+)$/i.exec(address) ?? /^([^/@:]{2,}):(?!\/\/)(.+)$/.exec(address) ?? [];
  if (!host || !path || /^file:/i.test(url)) return null;
  const name = `${host.toLowerCase().replace(/:\d+$/, '')}/${path
    .replace(/[?#].*$/, '')
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')}`;
  return codePoints(name) <= LONGEST_NAME ? name : null;
}
