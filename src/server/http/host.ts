/** Which `Host` this server answers to. Everything is behind this check. */
import { Refusal } from '../../contract/errors.ts';
import type { AppOptions, Step } from './context.ts';
import { one } from './request-head.ts';
import type { Site } from './site.ts';

/**
 * Leaves the request's host, lower case and without the port that https has anyway.
 * @throws Refusal `host_not_allowed` for another, a missing or a repeated Host, and for a target that is not a path.
 */
export const requireHost =
  ({ site }: AppOptions): Step =>
  ({ req, state }, next) => {
    const given = one(state.head.host).toLowerCase();
    // What reaches a team's server came over https, where a host and the same with :443 are one.
    const host = site.mode === 'team' ? given.replace(/:443$/, '') : given;
    if (!site.hosts().includes(host) || !req.url?.startsWith('/')) throw hostNotAllowed(site);
    state.host = host;
    return next();
  };

const hostNotAllowed = (site: Site): Refusal =>
  new Refusal('host_not_allowed', 'This server does not answer to that host name.', {
    hint: `Use ${site.hosts()[0] ?? 'its own address'}.`,
    headers: { Connection: 'close' },
  });
