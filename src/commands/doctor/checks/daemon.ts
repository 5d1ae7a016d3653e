/** Checks that the daemon runs, that its build is current, and what it could not deliver. */
import { existsSync } from 'node:fs';
import { runtime } from '../../../cli/runtime.ts';
import { here } from '../../../cli/session/here.ts';
import { checkSocket, requirePlatform } from '../../../daemon/control/address.ts';
import { daemonStatus } from '../../../daemon/control/ask.ts';
import { isAbsent } from '../../../daemon/control/errors.ts';
import { type DaemonPaths, daemonPaths } from '../../../daemon/paths.ts';
import type { AgentRef, StatusAnswer } from '../../../daemon/protocol.ts';
import { buildOf, olderBuild } from '../../../local/build.ts';
import { Failure } from '../../../local/failure.ts';
import { parseJsonObject } from '../../../local/json.ts';
import { readPrivate } from '../../../local/private-file.ts';
import { askWhatItIs } from '../lib/ask-server.ts';
import { type Around, type Check, type Finding, failing, fine, warning } from '../lib/check.ts';
import { folderOf, SessionLines } from './session-lines.ts';

export const daemon: Check = {
  name: 'daemon',
  async run(around) {
    const found = await running(daemonPaths(around.folders), around);
    return found.length > 0 ? found : [fine('daemon', 'not set up; service init does that')];
  },
};

async function running(paths: DaemonPaths, around: Around): Promise<Finding[]> {
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
    const fix = error.code === 'request_timeout' ? endLine(paths.info) : null;
    return [failing('daemon', error.code, error.message, fix ?? (error.hint || 'service daemon restart'))];
  }
  const lines = await SessionLines.of(around);
  const undelivered = [
    ...(await unreachedFindings(status, around)),
    ...deliveryFindings(status, lines),
    ...movedFindings(status, lines, around),
  ];
  const own = buildOf(runtime().root);
  const { pid, build } = status;
  if (olderBuild(build, own)) {
    const problem = `It runs (pid ${pid}) as version ${build.version}, older than this build (${own.version}).`;
    return [warning('daemon', 'daemon_outdated', problem, 'service daemon restart'), ...undelivered];
  }
  return [fine('daemon', `running (pid ${pid}), version ${build.version}`), ...undelivered];
}

/** Ends a daemon that hangs, which nobody can ask to end; null where its number is not noted. */
function endLine(info: string): string | null {
  const { pid } = parseJsonObject(readPrivate(info) ?? '') ?? {};
  return Number.isSafeInteger(pid) ? `kill -9 ${pid} && service daemon start` : null;
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

/** Servers that answer here and not in its environment, as where a new certificate was made known since. */
async function unreachedFindings({ servers = [] }: StatusAnswer, around: Around): Promise<Finding[]> {
  const away = servers.filter(({ connected, last_error }) => !connected && last_error === 'server_unreachable');
  const found = await Promise.all(
    away.map(async ({ url }) => {
      const entry = around.saved?.servers[url];
      if (!entry || !(await askWhatItIs(url, entry, around).catch(() => null))) return [];
      const problem = `It does not reach ${url}, which answers here: it was started without the certificates or the proxy that are set here, or has not tried again yet.`;
      return [warning('daemon', 'server_unreachable', problem, 'service daemon restart')];
    }),
  );
  return found.flat();
}

/** Why a program's queue took nothing, where the program says so. */
const targets: Record<string, string> = {
  harness_target_absent: 'its program knows the session no more',
  harness_subagent_target: 'its session is a part of another one, which holds no seat',
};

/** One finding a handoff and seat; nothing where all goes well. */
function deliveryFindings(status: StatusAnswer, lines: SessionLines): Finding[] {
  const { attention = [], stalled = [], truncated = [], agents = [], bindings = [], metrics = {} } = status;
  const held = ({ name, board, server, member_id }: AgentRef) => {
    const session = bindings.find(
      ({ agent }) => agent.server === server && (agent.member_id ?? agent.name) === (member_id ?? name),
    )?.session;
    return { member_id, name, board, session: session ?? null, folder: folderOf(status, session ?? null) };
  };
  const echoes = metrics['wake_echo_missing'] ?? 0;
  const errors = metrics['uncaught_errors'] ?? 0;
  return [
    ...attention.map(({ agent, reason = '' }) => {
      const why = targets[reason] ?? (reason.replace(/\.$/, '') || 'no reason was given');
      const problem = `${who(agent)} could not be handed its messages: ${why}.`;
      return failing(
        'delivery',
        reason in targets ? reason : 'delivery_attention',
        problem,
        lines.takeOver(held(agent)),
      );
    }),
    ...stalled.map(({ agent }) => {
      const problem = `${who(agent)} was handed its messages, and its session did not wake.`;
      return warning('delivery', 'delivery_stalled', problem, lines.reopen(held(agent)));
    }),
    ...truncated.map(({ agent, seq }) => {
      const problem = `${who(agent)} was given #${seq} in part or as one line: it was too long to show.`;
      return warning('delivery', 'delivery_truncated', problem, readLine(lines.selector(agent), seq));
    }),
    ...agents.flatMap(({ agent, problem }) => seatFindings(agent, problem ?? null)),
    ...(echoes > 0 ? [echoMissing(echoes)] : []),
    ...(errors > 0 ? [daemonError(errors)] : []),
  ];
}

/** Sessions that hold a seat of a server at an address that is not saved any more: the seat was saved for another one. */
function movedFindings(status: StatusAnswer, lines: SessionLines, { saved }: Around): Finding[] {
  const servers = Object.entries(saved?.servers ?? {});
  const { bindings = [] } = status;
  return bindings.flatMap(({ agent, session, open }) => {
    const { server, member_id } = agent;
    if (!open || member_id === undefined) return [];
    if (servers.some(([origin, { urls }]) => origin === server || urls?.includes(server))) return [];
    const now = servers.find(([, { seats }]) => seats[member_id]?.token !== undefined)?.[0];
    const again = bindings.some(({ agent: { server: at, member_id: id } }) => at === now && id === member_id);
    if (now === undefined || again) return [];
    const problem = `${who(agent)} hears nothing: its session has the seat at ${server}, and the server is at ${now} now.`;
    const isRun = lines.isRun({ session });
    const message = isRun ? `${problem} End its service run and start it again.` : problem;
    const fix = isRun ? null : lines.takeAgain({ ...agent, session, folder: folderOf(status, session) });
    return [failing('delivery', 'server_address_changed', message, fix)];
  });
}

const who = ({ name, board }: AgentRef): string => `${name} on ${board}`;

const readLine = (seat: string, seq: number): string => `service read --as ${seat} --around ${seq} --limit 1`;

/** The others are found where servers and seats are asked. */
function seatFindings(agent: AgentRef, problem: string | null): Finding[] {
  if (problem === 'handoff_failed') {
    const message = `${who(agent)}: its messages could not be made ready; they are tried again, less and less often.`;
    return [failing('delivery', problem, message, 'service daemon restart')];
  }
  if (problem !== 'extension_outdated') return [];
  const message = `${who(agent)}: the extension in its session is too old for what is to be handed to it.`;
  return [failing('delivery', problem, message, 'service init --yes --harness omp')];
}

function echoMissing(count: number): Finding {
  const problem = `${count === 1 ? 'A wake was' : `${count} wakes were`} taken for received without a trace in the session; a change of its program may be why.`;
  return warning('delivery', 'wake_echo_missing', problem, 'service init --yes && service daemon restart');
}

function daemonError(count: number): Finding {
  const had = count === 1 ? 'had an unexpected error' : `had ${count} unexpected errors`;
  const problem = `The delivery daemon ${had}; a session may get nothing until it is restarted. Its log says where: service daemon logs.`;
  return warning('delivery', 'daemon_error', problem, 'service daemon restart');
}
