/** A job of the test runner: a process and whatever it starts, which ends with the job. */
import { spawn } from 'node:child_process';

export interface JobEnd {
  /** What it printed. */
  text: string;
  code: number | null;
}

const groups = new Set<number>();
process.on('exit', () => {
  for (const group of groups) kill(group, 'SIGINT');
});

/** Runs Node with these words. @param ms after which it is killed, with its process group */
export function runJob(words: string[], env: NodeJS.ProcessEnv, ms: number): Promise<JobEnd> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const group = child.pid!;
    groups.add(group);
    const printed: Buffer[] = [];
    const keep = (chunk: Buffer): void => void printed.push(chunk);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const limit = setTimeout(() => {
      kill(group, 'SIGKILL');
      keep(Buffer.from(`\nIt was killed after ${ms / 1_000} seconds.\n`));
      // A process outside of the group may still hold them.
      child.stdout.destroy();
      child.stderr.destroy();
    }, ms);
    child.on('close', (code) => {
      clearTimeout(limit);
      groups.delete(group);
      resolve({ text: Buffer.concat(printed).toString(), code });
    });
  });
}

function kill(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It ended meanwhile.
  }
}
