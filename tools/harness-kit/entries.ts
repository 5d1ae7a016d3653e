/** Running the entries that stand in a harness's settings, as that harness would: a shell, JSON on standard input, a time limit. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { readText } from '../../src/harness/setup/files.ts';
import { parseJsonc } from '../../src/harness/setup/jsonc.ts';

export interface SettingsEntry {
  command: string;
  timeout: number;
  asyncRewake?: boolean;
}

interface SettingsGroup {
  matcher?: string;
  hooks?: SettingsEntry[];
}

/** The entries of an event, as the file says them now. @param tool name of the tool, where the event is about one. */
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

export interface Started {
  /** Ends it and what it runs, as a harness that gives up on it does. */
  kill(): void;
  /** Resolves with its first output; never where it prints nothing. */
  output: Promise<void>;
  done: Promise<HookResult>;
}

interface StartOptions {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Milliseconds until it gets its input. */
  hangMs?: number;
  /** Whatever it prints does not get out: it waits in the middle of printing. */
  mute?: boolean;
  folder: string;
}

/** Starts one entry; a harness stops it when its time is over. */
export function startEntry(entry: SettingsEntry, input: object, options: StartOptions): Started {
  const begun = performance.now();
  const { env, cwd, hangMs = 0, mute = false, folder } = options;
  const stuck = mute ? fullPipe(folder) : null;
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

interface HookAnswer {
  context: string | null;
  block: string | null;
  updatedInput: Record<string, unknown> | null;
  /** It printed something that is no single JSON object. */
  bad: boolean;
}

/** What a hook printed, as a harness reads it. */
export function answerOf({ exit, stdout }: HookResult): HookAnswer {
  const nothing: HookAnswer = { context: null, block: null, updatedInput: null, bad: false };
  if (exit !== 0 || stdout.trim() === '') return nothing;
  try {
    const {
      hookSpecificOutput: output,
      decision,
      reason,
    } = JSON.parse(stdout) as {
      hookSpecificOutput?: { additionalContext?: string; updatedInput?: Record<string, unknown> };
      decision?: string;
      reason?: string;
    };
    return {
      context: output?.additionalContext ?? null,
      block: decision === 'block' ? (reason ?? '') : null,
      updatedInput: output?.updatedInput ?? null,
      bad: false,
    };
  } catch {
    return { ...nothing, bad: true };
  }
}
