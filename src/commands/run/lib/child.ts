/** Runs the user's program once for a bundle: passes the text and interprets its exit. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { undoAtExit } from '../../../cli/signals.ts';
import { showData } from '../../../cli/terminal/terminal.ts';
import { MAX_TIMER } from '../../../client/time.ts';
import { MAX_BODY } from '../../../contract/text.ts';
import { DRAIN_MS, fillPlaceholders, findProgram } from '../../../harness/programs.ts';
import { Failure, usage } from '../../../local/failure.ts';
import type { Env } from '../../../local/folders.ts';
import { isRecord, noteFile } from '../../../local/private-file.ts';
import { alive, until } from '../../../local/process.ts';
import { isGone, type ProcessRef, processRef } from '../../../local/process-ref.ts';

export type Input = 'arg' | 'stdin' | 'file';

interface ChildOptions {
  /** The member id of the agent that it runs for. */
  memberId: string;
  argv: string[];
  input: Input;
  env: Env;
  /** Milliseconds after which it is told to end, null never; 10 seconds later it is stopped. */
  ms: number | null;
  /** Its output is kept instead of shown. */
  keep: boolean;
  /** Reads its output besides. */
  read?: ((part: string) => void) | undefined;
}

/**
 * `later`: it could not just now. Whatever else is no exit 0 is a failed attempt; `exit` where it could not be started, `code`
 * with which it ended by itself, `told` where its person has been told of it.
 */
export type Outcome =
  | { kind: 'done'; output: string }
  | { kind: 'later' }
  | { kind: 'failed'; reason: string; exit?: number; code?: number; told?: true };

const TEMPORARY = 75;
const GRACE_MS = 10_000;
/** The same where this program is told to end, which itself has to be over soon then. */
export const STOP_GRACE_MS = 5_000;
/** What is kept of its output: more than a message may hold, whatever characters it has. */
export const KEPT = 4 * MAX_BODY;

/** As a shell's. */
const NOT_RUNNABLE = 126;
const NOT_FOUND = 127;

/** @throws Failure `start_failed` for a program that is not there or may not be run, with the exit code of a shell. */
export function requireProgram(name: string, env: Env): void {
  if (findProgram(name, env)) return;
  const hint = 'Name a program on PATH, or the path of an executable file';
  if (name.includes('/') && existsSync(name))
    throw new Failure('start_failed', `${name} is no program that may be run.`, { hint, exit: NOT_RUNNABLE });
  throw new Failure('start_failed', `There is no program ${name}.`, { hint, exit: NOT_FOUND });
}

/** How the text is given, told by the names in braces where it is not said. */
export function inputOf(argv: readonly string[], said: string | undefined): Input {
  const names = (name: string) => argv.some((word) => word.includes(`{${name}}`));
  const input = (said ?? (names('bundle') ? 'arg' : names('bundle_file') ? 'file' : 'stdin')) as Input;
  if (input === 'arg' && !names('bundle'))
    throw usage('--input arg needs {bundle} among the words of the program.', 'service run --help');
  if (input === 'file' && !names('bundle_file'))
    throw usage('--input file needs {bundle_file} among the words of the program.', 'service run --help');
  return input;
}

interface Running {
  runner: ProcessRef;
  program: ProcessRef;
}

/** What runs for an agent, by its member id. */
const file = noteFile<Record<string, Running>>('runs.json', {}, isRecord);

async function noteRunning(memberId: string, pid: number): Promise<void> {
  const [runner, program] = [processRef(process.pid), processRef(pid)];
  if (!runner || !program) return;
  await file.change(runtime().folders, (before) => {
    const others = Object.entries(before).filter(([, running]) => !isGone(running.program));
    return { ...Object.fromEntries(others), [memberId]: { runner, program } };
  });
}

/**
 * Ends the program of an agent whose runner was killed, with all that it has started. Once the program itself is gone, its
 * group may be that of another one which had its number since, and is left alone.
 */
export async function endLeftBehind(memberId: string): Promise<void> {
  const left = file.read(runtime().folders)[memberId];
  if (!left || !isGone(left.runner) || isGone(left.program)) return;
  await endGroup(left.program.pid, 'SIGTERM', STOP_GRACE_MS);
}

/** A group that has already ended is ignored. */
function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // It ended meanwhile.
  }
}

/** Ends a program's group, which may outlive it. */
async function endGroup(pid: number, name: NodeJS.Signals, graceMs: number): Promise<void> {
  signalGroup(pid, name);
  if (!(await until(() => !alive(-pid), graceMs))) signalGroup(pid, 'SIGKILL');
}

/** Runs the program once. @param stop ends it early, by the signal that is its reason. */
export async function runChild(text: string, options: ChildOptions, stop: AbortSignal): Promise<Outcome> {
  const folder = options.input === 'file' ? mkdtempSync(join(tmpdir(), 'service-run-')) : null;
  try {
    const file = folder ? join(folder, 'bundle.txt') : '';
    if (folder) writeFileSync(file, text, { mode: 0o600 });
    return await started(fillPlaceholders(options.argv, { bundle: text, bundle_file: file }), text, options, stop);
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}

function started(
  [program, ...args]: string[],
  text: string,
  options: ChildOptions,
  stop: AbortSignal,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program!, args, {
      env: options.env as NodeJS.ProcessEnv,
      stdio: [
        options.input === 'stdin' ? 'pipe' : 'ignore',
        options.keep || options.read ? 'pipe' : 'inherit',
        'inherit',
      ],
      detached: true,
    });
    // Where it cannot be noted it runs all the same.
    const noted = child.pid === undefined ? null : noteRunning(options.memberId, child.pid).catch(() => {});
    let output = '';
    let late = false;
    // As where nobody reads what it prints any more, or its terminal is gone.
    const ended = undoAtExit(() => signalGroup(child.pid!, 'SIGTERM'));
    let ending: Promise<void> | null = null;
    const over = () => {
      late = true;
      ending = endGroup(child.pid!, 'SIGTERM', GRACE_MS);
    };
    const timer = options.ms === null ? undefined : setTimeout(over, Math.min(options.ms, MAX_TIMER));
    const stopped = () => {
      ending = endGroup(child.pid!, stop.reason, STOP_GRACE_MS);
    };
    stop.addEventListener('abort', stopped);
    let drained: NodeJS.Timeout | undefined;
    const settle = async (outcome: Outcome) => {
      ended();
      clearTimeout(timer);
      clearTimeout(drained);
      child.stdout?.destroy();
      stop.removeEventListener('abort', stopped);
      await ending;
      await noted;
      resolve(outcome);
    };
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      options.read?.(part);
      if (!options.keep) showData(part);
      else if (output.length < KEPT) output += part;
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      settle({
        kind: 'failed',
        reason: `cannot be run: ${error.message}`,
        exit: error.code === 'ENOENT' ? NOT_FOUND : NOT_RUNNABLE,
      }),
    );
    const exited = (code: number | null, name: NodeJS.Signals | null) => {
      if (late) settle({ kind: 'failed', reason: 'took too long' });
      else if (code === 0) settle({ kind: 'done', output });
      else if (code === TEMPORARY) settle({ kind: 'later' });
      else if (code === null) settle({ kind: 'failed', reason: name! });
      else {
        const how = code === NOT_FOUND || code === NOT_RUNNABLE ? { exit: code } : { code };
        settle({ kind: 'failed', reason: `exit ${code}`, ...how });
      }
    };
    child.on('exit', (code, name) => {
      // What it started may not know of a Ctrl-C.
      if (ending) signalGroup(child.pid!, 'SIGTERM');
      drained = setTimeout(() => exited(code, name), DRAIN_MS);
    });
    child.on('close', exited);
    child.stdin?.on('error', () => {});
    child.stdin?.end(text);
  });
}
