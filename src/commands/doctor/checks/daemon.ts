/** Checks that the daemon runs, that its build is current, and what it could not deliver. */
import { existsSync } from 'node:fs';
import { runtime } from '../../../cli/runtime.ts';
import { here } from '../../../cli/session/here.ts';
import { checkSocket, requirePlatform } from '../../../daemon/control/address.ts';
import { daemonStatus } from '../../../daemon/control/ask.ts';
import { isAbsent } from '../../../daemon/control/errors.ts';
import { type DaemonPaths, daemonPaths } from '../../../daemon/paths.ts';
import type { StatusAnswer } from '../../../daemon/protocol.ts';
import { buildOf, olderBuild } from '../../../local/build.ts';
import { Failure } from '../../../local/failure.ts';
import { type Check, type Finding, failing, fine, warning } from '../lib/check.ts';
import { deliveryFindings } from './delivery.ts';
import { SessionLines } from './session-lines.ts';

export const daemon: Check = {
  name: 'daemon',
  async run({ folders }) {
    const found = await running(daemonPaths(folders), folders.config);
    return found.length > 0 ? found : [fine('daemon', 'not set up; service init does that')];
  },
};

async function running(paths: DaemonPaths, config: string): Promise<Finding[]> {
  let status: StatusAnswer;
  try {
    requirePlatform();
    // What is wrong with a folder that holds no socket is found by others.
    if (!existsSync(paths.socket)) return absent(paths);
    checkSocket(paths.socket);
    status = await daemonStatus(paths.state);
  } catch (error) {
    if (isAbsent(error)) return absent(paths);
    if (!(error instanceof Failure)) throw error;
    return [failing('daemon', error.code, error.message, error.hint || 'service daemon restart')];
  }
  const undelivered = deliveryFindings(status, await SessionLines.of(config));
  const own = buildOf(runtime().root);
  const { pid, build } = status;
  if (olderBuild(build, own)) {
    const problem = `It runs (pid ${pid}) as version ${build.version}, older than this build (${own.version}).`;
    return [warning('daemon', 'daemon_outdated', problem, 'service daemon restart'), ...undelivered];
  }
  return [fine('daemon', `running (pid ${pid}), version ${build.version}`), ...undelivered];
}

/** Where hooks are set up the next one starts it; nobody has to. In a sandbox no command does. */
function absent({ installed }: DaemonPaths): Finding[] {
  if (here().sandbox) {
    const problem = 'The delivery daemon does not run, and none is started in a sandbox; its person does that outside.';
    return [warning('daemon', 'daemon_in_sandbox', problem, 'service daemon start')];
  }
  if (!existsSync(installed)) return [];
  const problem = 'The delivery daemon does not run; the next hook or command that needs it starts it.';
  return [warning('daemon', 'daemon_not_running', problem, 'service daemon start')];
}
