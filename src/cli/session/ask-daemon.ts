/** Sends requests to this machine's daemon, on behalf of the current agent session or of none. */
import type { DeliveryMode } from '../../contract/types.ts';
import { ask } from '../../daemon/control/ask.ts';
import { connectDaemon, type DaemonOptions } from '../../daemon/control/client.ts';
import type { Connection } from '../../daemon/control/connection.ts';
import { isAbsent } from '../../daemon/control/errors.ts';
import type { RequestVerb } from '../../daemon/control/limits.ts';
import type { AgentRef, Answers, Header, RequestFields } from '../../daemon/protocol.ts';
import type { SessionHere } from '../../harness/detect.ts';
import { isTicket } from '../../launch/ticket.ts';
import type { Seat } from '../../local/actors.ts';
import { buildOf } from '../../local/build.ts';
import { Failure } from '../../local/failure.ts';
import { readCredentials } from '../../local/keys/credentials.ts';
import { harnessProcess, startedAt } from '../../local/process-ref.ts';
import { knownServers } from '../../local/servers.ts';
import { noteAutostart, noteDone, runtime } from '../runtime.ts';
import { here, noNetwork, refuseStartInSandbox, sessionHere } from './here.ts';

interface DaemonFlags {
  /** Whether it may be started for this, and an older one replaced. */
  start: boolean;
  /** Whose starts are counted (default: the session's this command runs in, or those of all commands). */
  client?: string;
}

/**
 * The way to the daemon from here. In a sandbox, and where nothing may be started, it is used only as it runs.
 * @param byPerson whether somebody asks just for this, for whom also SERVICE_NO_AUTOSTART is no obstacle
 */
export function daemonOptions({
  start,
  client = sessionHere()?.key ?? 'command',
  byPerson = false,
}: DaemonFlags & { byPerson?: boolean }): DaemonOptions {
  const { env, folders, program, root } = runtime();
  const may = start && here().sandbox === null && (byPerson || env.SERVICE_NO_AUTOSTART !== '1');
  return {
    state: folders.state,
    env,
    start: may
      ? {
          program: [process.execPath, ...process.execArgv, program],
          ...(byPerson ? { client: null } : { client, onStart: () => noteAutostart('daemon') }),
        }
      : null,
    replaceBy: may ? buildOf(root) : null,
  };
}

/** The header of frames about the session this command runs in. */
export function headerOf({ profile, session, boot }: SessionHere): Header {
  const { env } = runtime();
  const configDir = profile.config_dir && env[profile.config_dir.env];
  const process_ = harnessProcess();
  const { subagent } = here();
  return {
    harness: profile.harness,
    session,
    started: startedAt(),
    cwd: process.cwd(),
    ...(boot ? { boot } : {}),
    ...(process_ ? { process: process_ } : {}),
    ...(configDir ? { config_dir: configDir.slice(0, 4_096) } : {}),
    ...(subagent ? { subagent: subagent.slice(0, 200) } : {}),
  };
}

/** Connects, and says in a sandbox why nobody answers. */
export async function connectHere(options: DaemonFlags): Promise<Connection> {
  try {
    return await connectDaemon(daemonOptions(options));
  } catch (error) {
    if (!isAbsent(error)) throw error;
    const { sandbox } = here();
    if (sandbox && !sandbox.network && !(await anyServerAnswers())) throw noNetwork(sandbox.fix);
    refuseStartInSandbox();
    throw error;
  }
}

/** Whether the network is there after all, as far as the servers known here tell. */
async function anyServerAnswers(): Promise<boolean> {
  const { env, folders } = runtime();
  const { accepts } = await import('../../local/own-server/probe.ts');
  const servers = knownServers(readCredentials(folders), folders, env);
  return (await Promise.all(servers.map(({ origin }) => accepts(origin)))).includes(true);
}

const away = ['daemon_not_running', 'daemon_in_sandbox', 'session_unknown', 'request_timeout', 'daemon_stopping'];

/** Whether no daemon answers here, or it never heard of the session; what is noted on this machine counts then. */
export const isAway = (error: unknown): boolean => error instanceof Failure && away.includes(error.code);

/** What the daemon answers; `otherwise` where it is away. */
export async function unlessAway<T>(otherwise: T, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isAway(error)) return otherwise;
    throw error;
  }
}

/** Verbs that change something although they carry no key. */
const changing: ReadonlySet<RequestVerb> = new Set(['bind', 'unbind', 'join', 'mode']);

/** Asks one verb. */
export async function askDaemon<Verb extends RequestVerb>(
  verb: Verb,
  fields: RequestFields[Verb],
  options: DaemonFlags,
): Promise<Answers[Verb]> {
  const connection = await connectHere(options);
  try {
    const answer = await ask(connection, verb, fields);
    if ('idempotency_key' in fields || changing.has(verb)) noteDone();
    return answer;
  } finally {
    connection.close();
  }
}

type SessionVerb = Exclude<RequestVerb, 'status' | 'shutdown'>;
type Beside<Verb extends SessionVerb> = Omit<RequestFields[Verb], keyof Header>;

/** Asks for a session. One that the daemon does not know, because nothing of it came before, is made known first. */
export async function askFor<Verb extends SessionVerb>(
  session: SessionHere,
  verb: Verb,
  fields: Beside<Verb>,
  options: DaemonFlags = { start: true },
): Promise<Answers[Verb]> {
  const header = headerOf(session);
  const whole = { ...header, ...fields } as RequestFields[Verb];
  try {
    return await askDaemon(verb, whole, options);
  } catch (error) {
    if (!options.start || !isUnknown(error)) throw error;
    const { SERVICE_LAUNCH: launch } = runtime().env;
    await registerHere(session, isTicket(launch) ? launch : undefined, options);
    return askDaemon(verb, whole, options);
  }
}

/** Makes a session known. @param launch the ticket it was started with; one that was used before changes nothing */
export async function registerHere(
  session: SessionHere,
  launch: string | undefined,
  options: DaemonFlags = { start: true },
): Promise<void> {
  // Whether this is the boot that runs now is for the session's own hooks to say.
  const { boot: _, ...known } = headerOf(session);
  await askDaemon('register', { ...known, source: 'startup', ...(launch ? { launch } : {}) }, options);
}

const isUnknown = (error: unknown): boolean =>
  error instanceof Failure && (error.code === 'session_unknown' || error.code === 'agent_session_required');

/** A seat as frames name it. */
export const refOf = ({ origin, memberId, saved }: Seat): AgentRef => ({
  server: origin,
  board: saved.board,
  name: saved.name,
  member_id: memberId,
  board_id: saved.board_id,
});

/** Tells the daemon a mode that the server has just answered; one that does not run reads it for itself. */
export async function tellMode(seat: Seat, mode: DeliveryMode, revision: number): Promise<void> {
  await askDaemon('mode', { agent: refOf(seat), mode, revision }, { start: false }).catch(() => {});
}
