/** This machine's own server, if it runs. */
import type { Env, Folders } from './folders.ts';
import { type FoundServer, runningServer } from './probe.ts';

/** The server that runs here, also when its pid file was lost or damaged. */
export async function currentServer(folders: Folders, env: Env): Promise<FoundServer | null> {
  const told = runningServer(folders);
  if (told) return told;
  const { findServer } = await import('./find-running.ts');
  return findServer({ folders, env });
}
