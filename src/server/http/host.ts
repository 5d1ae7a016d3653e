/** Which `Host` this server answers to. Everything is behind this check. */
import { Refusal } from '../../contract/errors.ts';
import type { AppOptions, Once, Step } from './context.ts';
import type { Site } from './site.ts';

export const requireHost =
  ({ site }: AppOptions): Step =>
  ({ req, state }, next) => {
    state.host = checkHost(state.head.host, req.url ?? '', site);
    return next();
  };

/**
 * Answers the request's host, lower case and without the port that https has anyway. @param target of the request line.
 * @throws Refusal `host_not_allowed` for another, a missing or a repeated Host, and for a target that is not a path.
 */
function checkHost(given: Once, target: string, site: Site): string {
  const host = typeof given === 'string' ? withoutUsualPort(given.toLowerCase(), site) : null;
  if (host !== null && site.hosts().includes(host) && target.startsWith('/')) return host;
  throw new Refusal('host_not_allowed', 'This server does not answer to that host name.', {
    hint: `Use ${site.hosts()[0] ?? 'its own address'}.`,
    headers: { Connection: 'close' },
  });
}

/** What reaches a team's server came over https, where a host and the same with :443 are one. */
const withoutUsualPort = (host: string, { mode }: Site): string => (mode === 'team' ? host.replace(/:443$/, '') : host);
