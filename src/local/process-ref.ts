/** Identifies a process by its id and start time, so that a later process with the same id is not mistaken for it. */
import { readFileSync } from 'node:fs';

export interface ProcessRef {
  pid: number;
  start: string;
}

interface Stat {
  start: string;
  parent: number;
  name: string;
  /** It is a zombie: ended, but not yet reaped by its parent. */
  ended: boolean;
}

/** The process with this id; null if there is none, or it cannot be read. */
export function processRef(pid: number): ProcessRef | null {
  const stat = statOf(pid);
  return stat && !stat.ended ? { pid, start: stat.start } : null;
}

/** Whether the process is gone. One that cannot be inspected counts as alive. */
export function isGone({ pid, start }: ProcessRef): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
    // Another user's process may have its id now.
  }
  const stat = statOf(pid);
  return stat !== null && (stat.ended || stat.start !== start);
}

/** When a process started, in milliseconds since the epoch; NaN if unknown. */
export function processStartMs(pid: number): number {
  try {
    return Date.parse(`${fromPs(pid)?.start ?? ''} UTC`);
  } catch {
    return Number.NaN;
  }
}

const MAX_LEVELS = 8;
/** Programs that only run another one. Node is not among them, because a harness may be a Node program itself. */
const wrappers = /^-?(sh|bash|dash|zsh|fish|ksh|ash|env|sudo|timeout|nice|nohup|setsid|xargs|npx|npm( .*)?)$/;

/** The nearest process above this one that is neither a shell nor a wrapper. */
export function harnessProcess(): ProcessRef | null {
  let pid = process.ppid;
  for (let level = 0; level < MAX_LEVELS && pid > 1; level++) {
    const stat = statOf(pid);
    if (!stat || stat.ended) return null;
    if (!wrappers.test(stat.name)) return { pid, start: stat.start };
    pid = stat.parent;
  }
  return null;
}

function statOf(pid: number): Stat | null {
  try {
    return process.platform === 'darwin' ? fromPs(pid) : fromProc(pid);
  } catch {
    return null;
  }
}

/** The name in brackets may contain anything, so fields are counted after the last bracket. */
function fromProc(pid: number): Stat | null {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  if (close < 0) return null;
  return {
    name: text.slice(text.indexOf('(') + 1, close),
    parent: Number(fields[1]),
    start: fields[19] ?? '',
    // Field 3 of the manual is the first one here.
    ended: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** With this `ps` says when a process began in the same words, whatever time zone the machine is in meanwhile. */
export const psEnv = (): NodeJS.ProcessEnv => ({ ...process.env, LC_ALL: 'C', TZ: 'UTC' });

function fromPs(pid: number): Stat | null {
  // Loaded lazily, because hooks start faster without it.
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  const line = execFileSync('ps', ['-o', 'ppid=,stat=,lstart=,comm=', '-p', String(pid)], {
    encoding: 'utf8',
    timeout: 2_000,
    env: psEnv(),
  });
  const found = /^\s*(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/.exec(line.trimEnd());
  if (!found) return null;
  return {
    parent: Number(found[1]),
    ended: found[2]!.startsWith('Z'),
    start: found[3]!.replace(/\s+/g, ' '),
    name: found[4]!.split('/').at(-1)!,
  };
}

/** Microseconds of the machine's monotonic clock when this process began. */
export function startedAt(): number {
  return Math.round(Number(process.hrtime.bigint() / 1000n) - process.uptime() * 1e6);
}
