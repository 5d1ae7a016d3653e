/** Which `Host` this server answers to. Everything is behind this check. */
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../contract/errors.ts';

export interface HostRule {
  /** Accepted values of the `Host` header, lower case. */
  accepts(): readonly string[];
}

/** A local server answers only its own loopback address, so that no page of another site can reach it by a name. */
export const localHosts = (port: () => number): HostRule => ({
  accepts: () => [`127.0.0.1:${port()}`, `localhost:${port()}`],
});

/** @throws Refusal `host_not_allowed` for another, a missing or a repeated Host, and for a target that is not a path. */
export function checkHost(req: IncomingMessage, rule: HostRule): void {
  const hosts: string[] = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i]?.toLowerCase() === 'host') hosts.push(req.rawHeaders[i + 1] ?? '');
  }
  const [host] = hosts;
  const known = hosts.length === 1 && host !== undefined && rule.accepts().includes(host.toLowerCase());
  if (known && req.url?.startsWith('/')) return;
  throw new Refusal('host_not_allowed', 'This server does not answer to that host name.', {
    hint: `Use ${rule.accepts()[0] ?? 'its own address'}.`,
    headers: { Connection: 'close' },
  });
}
