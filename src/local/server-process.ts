/** How the process of a server is started: with less memory than V8 and malloc take by themselves. */

/**
 * V8's young generation is 8 MB a half instead of 64, and a full collection comes when the heap has grown by 30 %, not by
 * up to 300 %: the requests of agents that wait become old, so that garbage would pile up there. With 500 agents that wait
 * a server takes 155 MB instead of 370, for about 15 % more processor time when all of them are woken together; posts and
 * streams take as long (`npm run bench -- streams`).
 */
export const serverFlags = ['--max-semi-space-size=8', '--heap-growing-percent=30'];

/** One arena of glibc for all threads: the main thread allocates almost everything. */
export const serverVariables = { MALLOC_ARENA_MAX: '1' };

/**
 * Replaces this process by the same program with these flags, which V8 reads only when it starts. Returns where that is not
 * possible (on Windows, or in a process that talks to its parent) or has happened.
 */
export function becomeServerProcess(): void {
  const started = serverFlags.every((flag) => process.execArgv.includes(flag));
  if (started || process.execve === undefined || process.send !== undefined) return;
  const args = [process.execPath, ...process.execArgv, ...serverFlags, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, ...serverVariables });
}
