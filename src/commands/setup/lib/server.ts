/** The server that proposed work is on: the one that is named, else as any command chooses it. */

import { runtime } from '../../../cli/runtime.ts';
import { readCredentials } from '../../../local/credentials.ts';
import { findProject } from '../../../local/project.ts';
import { personServer } from '../../../local/servers.ts';

export function workServer(named: string | undefined): string {
  const { env, folders } = runtime();
  const choice = { named: named ?? env.SERVICE_SERVER, project: findProject() };
  return personServer(choice, readCredentials(folders), folders, env).origin;
}
