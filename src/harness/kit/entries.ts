/** Running the entries that stand in a harness's settings, as that harness would: a shell, JSON on standard input, a time limit. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readText } from '../setup/files.ts';
import { parseJsonc, readNode } from '../setup/jsonc.ts';

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
  const { hooks } = readNode(parseJsonc(text)) as { hooks?: Record<string, SettingsGroup[]> };
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
  child: ChildProcess;
  done: Promise<HookResult>;
}

/** Starts one entry; a harness stops it when its time is over. */
export function startEntry(entry: SettingsEntry, input: object, env: NodeJS.ProcessEnv, cwd: string): Started {
  const begun = performance.now();
  const child = spawn('/bin/sh', ['-c', entry.command], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (part: Buffer) => {
      printed[name] += part.toString('utf8');
    });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(input));
  const done = new Promise<HookResult>((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), Math.min(entry.timeout * 1000, 2 ** 31 - 1));
    const settle = (exit: number | null) => {
      clearTimeout(timer);
      resolve({ exit, ...printed, ms: Math.round(performance.now() - begun) });
    };
    child.on('error', () => settle(null));
    child.on('close', (code) => settle(code));
  });
  return { child, done };
}

export interface HookAnswer {
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
