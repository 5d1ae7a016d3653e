/** Which `Host` this server answers to. Everything is behind this check. */
import { Refusal } from '../../contract/errors.ts';
import type { Once } from './request-head.ts';
import type { Site } from './site.ts';

/**
 * Answers the request's host, lower case. @param target of the request line.
 * @throws Refusal `host_not_allowed` for another, a missing or a repeated Host, and for a target that is not a path.
 */
export function checkHost(given: Once, target: string, site: Site): string {
  const host = typeof given === 'string' ? given.toLowerCase() : null;
  if (host !== null && site.hosts().includes(host) && target.startsWith('/')) return host;
  throw new Refusal('host_not_allowed', 'This server does not answer to that host name.', {
    hint: `Use ${site.hosts()[0] ?? 'its own address'}.`,
    headers: { Connection: 'close' },
  });
}
