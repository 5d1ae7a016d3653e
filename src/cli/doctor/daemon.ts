/** The delivery daemon: whether it can be used, which build it is, its journal, and what it could not deliver. */
import { existsSync } from 'node:fs';
import { checkSocket, requirePlatform } from '../../daemon/control/address.ts';
import type { StatusAnswer } from '../../daemon/control/answers.ts';
import { daemonStatus } from '../../daemon/control/ask.ts';
import { isAbsent } from '../../daemon/control/errors.ts';
import { type DaemonPaths, daemonPaths } from '../../daemon/paths.ts';
import { buildOf, olderBuild } from '../../local/build.ts';
import { Failure } from '../../local/failure.ts';
import { runtime } from '../runtime.ts';
import { type Check, type Finding, failing, fine, warning } from './check.ts';

export const daemon: Check = {
  name: 'daemon',
  async run({ folders }) {
    const paths = daemonPaths(folders);
    const found = [...(await running(paths)), ...(await journal(paths.journal))];
    return found.length > 0 ? found : [fine('daemon', 'not set up; service init does that')];
  },
};

async function running(paths: DaemonPaths): Promise<Finding[]> {
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
  const own = buildOf(runtime().root);
  const { pid, build } = status;
  if (olderBuild(build, own)) {
    const problem = `It runs (pid ${pid}) as version ${build.version}, older than this build (${own.version}).`;
    return [warning('daemon', 'daemon_outdated', problem, 'service daemon restart'), ...undelivered(status)];
  }
  return [fine('daemon', `running (pid ${pid}), version ${build.version}`), ...undelivered(status)];
}

/** Where hooks are set up the next one starts it; nobody has to. */
function absent({ installed }: DaemonPaths): Finding[] {
  if (!existsSync(installed)) return [];
  const problem = 'The delivery daemon does not run; the next hook or command that needs it starts it.';
  return [warning('daemon', 'daemon_not_running', problem, 'service daemon start')];
}

function undelivered({
  attention = [],
  stalled = [],
  truncated = [],
  agents = [],
  metrics = {},
}: StatusAnswer): Finding[] {
  const status = 'service daemon status';
  const echoes = metrics['wake_echo_missing'] ?? 0;
  return [
    ...attention.map(({ agent, reason }) =>
      failing(
        'delivery',
        'delivery_attention',
        `${agent.name} on ${agent.board} could not be handed its messages: ${reason}`,
        status,
      ),
    ),
    ...stalled.map(({ handoff_id }) =>
      warning('delivery', 'delivery_stalled', `${handoff_id} was handed, and its session did not wake.`, status),
    ),
    ...(truncated.length === 0
      ? []
      : [warning('delivery', 'delivery_truncated', `${truncated.length} long messages were handed in part.`, status)]),
    ...agents
      .filter(({ problem }) => problem === 'handoff_failed' || problem === 'extension_outdated')
      .map(({ agent, problem }) =>
        failing('delivery', problem!, `${agent.name} on ${agent.board} is handed nothing now.`, 'service daemon logs'),
      ),
    ...(echoes === 0
      ? []
      : [
          warning(
            'delivery',
            'wake_echo_missing',
            `${echoes} wakes were taken without a trace of them.`,
            'service daemon logs',
          ),
        ]),
  ];
}

async function journal(path: string): Promise<Finding[]> {
  if (!existsSync(path)) return [];
  const fix = `mv '${path}' '${path}.broken'`;
  const [{ default: Sqlite }, { migrations }] = await Promise.all([
    import('better-sqlite3'),
    import('../../daemon/journal/schema.ts'),
  ]);
  try {
    const db = new Sqlite(path, { fileMustExist: true, timeout: 2_000 });
    try {
      const version = db.pragma('user_version', { simple: true }) as number;
      if (version > migrations.length)
        return [failing('journal', 'data_newer', `${path} is of a newer program.`, null)];
      // Takes the writer's lock and gives it back; nothing is changed.
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      return [fine('journal', 'can be written')];
    } finally {
      db.close();
    }
  } catch (error) {
    return [failing('journal', 'journal_unwritable', `${path} cannot be written: ${(error as Error).message}.`, fix)];
  }
}
