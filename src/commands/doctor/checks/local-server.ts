/** Checks whether this machine's own server runs, its build, and which program occupies its port. */
import { localAddress, originOf } from '../../../local/own-server/address.ts';
import { isOnLoopback } from '../../../local/own-server/own-agent.ts';
import { accepts, probe } from '../../../local/own-server/probe.ts';
import { currentServer } from '../../../local/own-server/running.ts';
import { olderThan } from '../../../local/versions.ts';
import { type Check, failing, fine, warning } from '../lib/check.ts';
import { unreachable } from './servers.ts';

export const localServer: Check = {
  name: 'local server',
  async run({ folders, env, version }) {
    const running = await currentServer(folders, env);
    if (!running) return [await free(originOf(localAddress(folders, env)), localAddress(folders, env).source)];
    const { url, version: its } = running;
    if (!isOnLoopback(url)) return [fine('local server', `a team’s server, ${url}, runs on its data`)];
    if (!running.answers || !(await probe(url))) {
      const problem = `Its process runs, but nothing answers at ${url}.`;
      return [unreachable('local server', 'server_unreachable', problem, 'service server restart')];
    }
    if (olderThan(its, version)) {
      const problem = `It is version ${its}, older than this build (${version}).`;
      return [warning('local server', 'server_outdated', problem, 'service server restart')];
    }
    return [fine('local server', `running at ${url}, version ${its}`)];
  },
};

async function free(origin: string, source: 'chosen' | 'recorded' | 'default') {
  if (!(await accepts(origin))) return fine('local server', 'not running; the first command that needs it starts it');
  const problem = `Another program listens at ${origin}`;
  // Only an address that was chosen is kept to; else the next free port is taken.
  if (source !== 'chosen')
    return fine('local server', `not running; ${problem.toLowerCase()}, so another port is taken`);
  const next = `export SERVICE_LOCAL_ADDR=127.0.0.1:${Number(new URL(origin).port) + 1}`;
  return failing('local server', 'address_in_use', `${problem}, where this machine's server is to be.`, next);
}
