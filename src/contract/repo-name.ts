/** How a repository is called everywhere, so that clones of it on several machines are known as one. */

const LONGEST = 300;

/**
 * Host and path of a repository's address: without its protocol, user, password and `.git`. Null for a path on one machine.
 */
export function repoName(url: string): string | null {
  const [, , host, path] =
    /^[a-z][a-z0-9+.-]*:\/\/(?:([^/]*)@)?([^/@]+)\/(.+)$/i.exec(url) ??
    /^(?:([^/@:]*)@)?([^/@:]{2,}):(?!\/\/)(.+)$/.exec(url) ??
    [];
  if (!host || !path || /^file:/i.test(url)) return null;
  const name = `${host.toLowerCase().replace(/:\d+$/, '')}/${path
    .replace(/[?#].*$/, '')
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')}`;
  return name.length <= LONGEST ? name : null;
}
