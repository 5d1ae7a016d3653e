/** Runs the hooks in a harness's settings as the harness does: in a shell, with JSON on standard input and a time limit. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { readText } from '../../src/harness/setup/files.ts';
import { parseJsonc } from '../../src/harness/setup/jsonc.ts';
import { parseJsonObject } from '../../src/local/json.ts';

export interface SettingsEntry {
  command: string;
  timeout: number;
  asyncRewake?: boolean;
}

interface SettingsGroup {
  matcher?: string;
  hooks?: SettingsEntry[];
}

/** The hooks of an event in a settings file. @param tool the name of the tool, for events about one */
export function entriesFor(path: string, event: string, tool?: string): SettingsEntry[] {
  const text = readText(path);
  if (text === null) return [];
  const { hooks } = getNodeValue(parseJsonc(text)) as { hooks?: Record<string, SettingsGroup[]> };
  const fits = ({ matcher }: SettingsGroup) => !matcher || !tool || new RegExp(`^(?:${matcher})$`).test(tool);
  return (hooks?.[event] ?? []).filter(fits).flatMap((group) => group.hooks ?? []);
}

export interface HookResult {
  exit: number | null;
  stdout: string;
  stderr: string;
  ms: number;
}

export interface RunningHook {
  /** Kills it and what it runs, like a harness after the time limit. */
  kill(): void;
  /** Resolves with its first output; never if it prints nothing. */
  output: Promise<void>;
  done: Promise<HookResult>;
}

interface StartOptions {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Milliseconds before it gets its input. */
  hangMs?: number;
  /** Its output goes into a full pipe, so that it blocks while it prints. */
  blockOutput?: boolean;
  folder: string;
}

/** Starts one hook, which is killed after its time limit. */
export function startEntry(entry: SettingsEntry, input: object, options: StartOptions): RunningHook {
  const begun = performance.now();
  const { env, cwd, hangMs = 0, blockOutput = false, folder } = options;
  const stuck = blockOutput ? fullPipe(folder) : null;
  const out = stuck === null ? ('pipe' as const) : stuck.fd;
  const child = spawn('/bin/sh', ['-c', entry.command], { env, cwd, stdio: ['pipe', out, out], detached: true });
  const printed = { stdout: '', stderr: '' };
  const kill = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  };
  const output = new Promise<void>((resolve) => {
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.on('data', (part: Buffer) => {
        printed[name] += part.toString('utf8');
        resolve();
      });
  });
  child.stdin!.on('error', () => {});
  const feed = () => child.stdin!.end(JSON.stringify(input));
  if (hangMs > 0) setTimeout(feed, hangMs);
  else feed();
  const done = new Promise<HookResult>((resolve) => {
    const timer = setTimeout(kill, Math.min(entry.timeout * 1000, 2 ** 31 - 1));
    const settle = (exit: number | null) => {
      clearTimeout(timer);
      stuck?.close();
      resolve({ exit, ...printed, ms: Math.round(performance.now() - begun) });
    };
    child.on('error', () => settle(null));
    child.on('close', (code) => settle(code));
  });
  return { kill, output, done };
}

let pipes = 0;

/** A full pipe: writing to it blocks. */
function fullPipe(folder: string): { fd: number; close(): void } {
  const path = join(folder, `stuck-${process.pid}-${++pipes}`);
  execFileSync('mkfifo', [path]);
  const filling = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const much = Buffer.alloc(4_096);
  for (let size = much.length; size > 0; ) {
    try {
      writeSync(filling, much, 0, size);
    } catch {
      size = Math.floor(size / 2);
    }
  }
  const fd = openSync(path, constants.O_RDWR);
  return {
    fd,
    close: () => {
      closeSync(fd);
      closeSync(filling);
      rmSync(path, { force: true });
    },
  };
}

/** Parses the output of a hook like a harness. `invalid`: it printed something other than one JSON object. */
export function answerOf({ exit, stdout }: HookResult) {
  const json = exit !== 0 || stdout.trim() === '' ? {} : parseJsonObject(stdout);
  const {
    hookSpecificOutput: output,
    decision,
    reason,
  } = (json ?? {}) as {
    hookSpecificOutput?: { additionalContext?: string; updatedInput?: Record<string, unknown> };
    decision?: string;
    reason?: string;
  };
  return {
    context: output?.additionalContext ?? null,
    block: decision === 'block' ? (reason ?? '') : null,
    updatedInput: output?.updatedInput ?? null,
    invalid: json === null,
  };
}
