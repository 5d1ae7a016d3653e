/** Names the server in use on standard error if nobody chose it. */
import type { Credentials } from '../../local/keys/credentials.ts';
import { type ChosenServer, knownServers } from '../../local/servers.ts';
import type { Output } from '../output.ts';
import { runtime } from '../runtime.ts';

let said = false;

/** Names the server last logged in to, or the local one, where this machine knows several; once in a run. */
export function sayServer({ name, origin, by }: ChosenServer, saved: Credentials, out: Output): void {
  const { env, folders } = runtime();
  if (said || (by !== 'login' && by !== 'rest') || knownServers(saved, folders, env).length < 2) return;
  said = true;
  out.note(`Server: ${name} (${origin})${by === 'login' ? ', the one last logged in to' : ''}`);
}
