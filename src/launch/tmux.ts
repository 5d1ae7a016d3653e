/** The launcher `tmux`: each agent in a detached tmux session of its own, to which its person can attach. */
import { z } from 'zod';
import { sleep } from '../client/time.ts';
import { findProgram, type ProgramResult, runProgram } from '../harness/programs.ts';
import type { Failure } from '../local/failure.ts';
import type { Env } from '../local/folders.ts';
import { isGone, processRef } from '../local/process-ref.ts';
import { waitOrKill } from './ending.ts';
import { removedVariables, withoutRemoved } from './environment.ts';
import { type Answers, type Launcher, launchFailure, type Place, parseHandle, type StartRequest } from './protocol.ts';
import { notStopped, requireFolder, requireProgram } from './requirements.ts';

const TIMEOUT_MS = 10_000;
const SEPARATOR = ';';
/** Marks the pane of the agent among others that its person may have opened beside it. */
const MARK = '@service_agent';

/** Identifies a started agent: the tmux server's socket, the pane, and the process in it. */
const handle = z.object({ socket: z.string(), pane: z.string(), pid: z.int().positive(), start: z.string() });

type Tmux = (...words: string[]) => Promise<ProgramResult>;

/**
 * @param env of this command, which decides which tmux and which of its servers are used
 * @param ms after which a command of tmux is killed
 */
export function tmuxLauncher(env: Env, ms = TIMEOUT_MS): Launcher {
  const tmux: Tmux = async (...words) => {
    const file = findProgram('tmux', env);
    if (file) return runProgram(file, words, { env: withoutRemoved(env), ms });
    throw launchFailure('host_unavailable', 'There is no tmux on PATH.', 'Install tmux, or set launcher: headless');
  };
  return {
    info: async () => ({ name: 'tmux', modes: ['interactive', 'headless'] }),
    start: (request) => start(tmux, env, request),
    status: async (place) => ({ state: isGone(parseHandle(handle, place)) ? 'exited' : 'running' }),
    stop: (place) => stop(tmux, place),
  };
}

/** Escapes words for tmux, where a semicolon at the end of a word ends the command. */
const escapeWords = (words: readonly string[]): string[] =>
  words.map((word) => (word.endsWith(SEPARATOR) ? `${word.slice(0, -1)}\\;` : word));

async function start(tmux: Tmux, env: Env, request: StartRequest): Promise<Answers['start']> {
  const { swarm, agent, argv, dir } = request;
  const session = `${swarm}-${agent}`;
  requireFolder(dir);
  const program = requireProgram(argv, { ...env, ...request.env });
  const remains = await renameRemains(tmux, session);
  const made = await runWithRetry(tmux, [
    // `#` starts a format of tmux.
    ...['new-session', '-d', '-s', session, '-c', ...escapeWords([dir.replaceAll('#', '##')])],
    ...['-P', '-F', PANE],
    // tmux runs several words directly, but a single word with a shell.
    ...['env', ...removedVariables.flatMap((name) => ['-u', name])],
    ...escapeWords(Object.entries(request.env).map(([name, value]) => `${name}=${value}`)),
    ...escapeWords([program, ...argv.slice(1)]),
    // The program's last output stays visible after it has ended.
    ...[SEPARATOR, 'set-option', '-w', '-t', `=${session}:`, 'remain-on-exit', 'on'],
    ...[SEPARATOR, 'set-option', '-p', '-t', `=${session}:`, MARK, '1'],
  ]);
  if (remains !== null) await tmux('kill-session', '-t', `=${remains}`);
  if (made.code !== 0) throw startFailure(made);
  const { handle: found, attach, pane, pid } = startedIn(session, made.stdout);
  if (found === null) throw await endedAtOnce(tmux, session, pane);
  return { handle: found, attach, pid };
}

const MAX_ATTEMPTS = 10;
const RETRY_MS = 100;

/** A tmux server exits after its last session, and commands that run at that moment fail with it. */
async function runWithRetry(tmux: Tmux, words: string[]): Promise<ProgramResult> {
  for (let n = 1; ; n++) {
    const ran = await tmux(...words);
    if (ran.code === 0 || n === MAX_ATTEMPTS || !/server exited|lost server/.test(ran.stderr)) return ran;
    await sleep(RETRY_MS);
  }
}

/**
 * A session of this name holds the agent, or the remains of an ended one, which is then renamed to make room.
 * @returns the new name if nothing runs in it any more; it keeps the tmux server alive until the new session exists
 */
async function renameRemains(tmux: Tmux, session: string): Promise<string | null> {
  const panes = await tmux('list-panes', '-s', '-t', `=${session}`, '-F', `#{${MARK}}#{pane_dead} ${PANE}`);
  if (panes.code !== 0) return null;
  const lines = panes.stdout.trim().split('\n');
  const own = lines.find((line) => line.startsWith('10 '));
  if (own) {
    const { handle: found, attach } = startedIn(session, own);
    const more = found === null ? {} : { handle: found, attach };
    throw launchFailure('already_running', `The tmux session ${session} runs already.`, attach, more);
  }
  const other = `${session}-${Date.now().toString(36)}`;
  await tmux('rename-session', '-t', `=${session}`, other);
  // Windows that the person opened in the session are kept.
  return lines.some((line) => /^1?0 /.test(line)) ? null : other;
}

/** A pane: its id, its process, the socket of its server. */
const PANE = '#{pane_id} #{pane_pid} #{socket_path}';

function startedIn(session: string, line: string) {
  const [, pane = '', pid = '', socket = ''] = /(%\d+) (\d+) (.*)$/m.exec(line) ?? [];
  const ref = processRef(Number(pid));
  const attach = attachTo(session);
  return { handle: ref && JSON.stringify({ socket, pane, ...ref }), attach, pane, pid: Number(pid) };
}

async function endedAtOnce(tmux: Tmux, session: string, pane: string) {
  const shown = await tmux('capture-pane', '-p', '-S', '-50', '-t', pane);
  await tmux('kill-session', '-t', `=${session}`);
  const said = shown.stdout.split('\n').filter((line) => line.trim() && !line.startsWith('Pane is dead'));
  return launchFailure('start_failed', `It ended at once${said.length > 0 ? `: ${said.at(-1)!.trim()}` : ''}.`);
}

async function stop(tmux: Tmux, place: Place): Promise<Answers['stop']> {
  const { socket, pane, ...ref } = parseHandle(handle, place);
  const onServer = socket ? ['-S', socket] : [];
  // Pane ids may repeat on another tmux server, so the process id is compared too.
  const own = await tmux(...onServer, 'display-message', '-p', '-t', pane, '#{pane_pid}');
  if (own.code === 0 && own.stdout.trim() === String(ref.pid)) await tmux(...onServer, 'kill-pane', '-t', pane);
  if (!(await waitOrKill(ref))) throw notStopped(ref.pid);
  return { state: 'exited' };
}

function startFailure({ stderr, timedOut: late }: ProgramResult): Failure {
  // It may have started it all the same.
  if (late) return launchFailure('launcher_failed', 'tmux does not answer.', 'tmux ls');
  return launchFailure('host_unavailable', `tmux did not start it: ${stderr.trim().slice(0, 200)}.`, 'tmux ls');
}

const attachTo = (session: string): string => `tmux attach -t '=${session}'`;
