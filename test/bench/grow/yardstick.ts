/** How fast this machine is at the moment: one that is shared with others is at times half as fast. */
import { type ChildProcess, spawn } from 'node:child_process';

const STEPS = 300_000;

/** The milliseconds that a piece of work takes which is always the same: objects, texts and JSON, as in a server. */
export function yardstick(): number {
  const from = performance.now();
  const kept: Record<string, string> = {};
  for (let n = 0; n < STEPS; n++) kept[`key ${n % 5_000}`] = JSON.parse(JSON.stringify({ n, body: `text ${n}` })).body;
  return performance.now() - from;
}

/** Starts processes that do this work without an end. @returns ends them */
export function neighbours(count: number): () => void {
  const script = `import { yardstick } from ${JSON.stringify(import.meta.url)}; for (;;) yardstick();`;
  const started: ChildProcess[] = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' }),
  );
  return () => {
    for (const child of started) child.kill('SIGKILL');
  };
}
