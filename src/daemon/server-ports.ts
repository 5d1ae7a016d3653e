/** Connects the daemon with servers: connections, reports, delegation and pairing. */
import type { Env, Folders } from '../local/folders.ts';
import { DelegatedBoards } from './delegation/delegated-boards.ts';
import { Pairing } from './pairing/pairing.ts';
import type { PortDeps, Ports } from './ports.ts';
import { Reports } from './reports/reports.ts';
import { CredentialStore } from './server-link/credentials.ts';
import { Servers } from './server-link/servers.ts';
import { createEnvironment } from './server-link/transport.ts';
import { savedSeats } from './sessions/saved-seats.ts';

/** @param version of this build */
export function serverPorts(
  { folders, env, version }: { folders: Folders; env: Env; version: string },
  deps: PortDeps,
): Omit<Ports, 'adapters'> {
  const { clock, log, events, serverEvents } = deps;
  const credentials = new CredentialStore(folders, env);
  const environment = createEnvironment(clock, log, version);
  const servers = new Servers({ environment, credentials, events: serverEvents });
  const reports = new Reports({ ...deps, servers });
  const delegatedBoards = new DelegatedBoards({ servers, credentials, folders, env, log });
  const pairing = new Pairing({ ...deps, servers, credentials, folders, env });
  reports.listen(serverEvents);
  pairing.listen(serverEvents, events);
  serverEvents.on('keyEnded', (origin) => delegatedBoards.forget(origin));
  return { servers, reports, saved: savedSeats(credentials), delegatedBoards, pairing };
}
