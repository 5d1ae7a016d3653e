/** Which `Host` this server answers to. Everything is behind this check. */
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../contract/errors.ts';
import type { Site } from './site.ts';

/**
 * Answers the request's host, lower case.
 * @throws Refusal `host_not_allowed` for another, a missing or a repeated Host, and for a target that is not a path.
 */
export function checkHost(req: IncomingMessage, site: Site): string {
  const hosts: string[] = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i]?.toLowerCase() === 'host') hosts.push(req.rawHeaders[i + 1] ?? '');
  }
  const host = hosts[0]?.toLowerCase();
  if (hosts.length === 1 && host !== undefined && site.hosts().includes(host) && req.url?.startsWith('/')) return host;
  throw new Refusal('host_not_allowed', 'This server does not answer to that host name.', {
    hint: `Use ${site.hosts()[0] ?? 'its own address'}.`,
    headers: { Connection: 'close' },
  });
}
