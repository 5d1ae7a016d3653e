/** This machine's own server, if it runs. */
import type { Env, Folders } from '../folders.ts';
import { ownAgent, type PortOccupant } from './own-agent.ts';
import { type FoundServer, runningServer } from './probe.ts';

export interface CurrentServer extends FoundServer {
  /** Whether it accepts connections; it may not answer yet. */
  answers: boolean;
  /** Its identity; null if it has not answered yet. */
  serverId: string | null;
}

/** Milliseconds after which a server counts as slow; it may still answer later. */
const ANSWER_TIMEOUT_MS = 2_000;

/**
 * The server that runs here, even if its pid file is lost or damaged. Another program that answers at the address in the
 * file is ignored, and so is another process with the same id.
 */
export async function currentServer(folders: Folders, env: Env): Promise<CurrentServer | null> {
  const ask = ({ url }: FoundServer) => ownAgent(folders).ask(url, ANSWER_TIMEOUT_MS);
  const told = runningServer(folders);
  const standing = told && (await ask(told));
  if (standing?.is === 'ours') return withState(told!, standing);
  const { findServer, isOurServer } = await import('./find-running.ts');
  const place = { folders, env };
  if (told && standing!.is !== 'other' && (await isOurServer(told, place))) return withState(told, standing!);
  const found = await findServer(place);
  return found && withState(found, await ask(found));
}

const withState = (server: FoundServer, standing: PortOccupant): CurrentServer => ({
  ...server,
  answers: standing.is === 'ours' || standing.is === 'silent',
  serverId: standing.is === 'ours' ? standing.info.server_id : null,
});
