/** Connects the daemon with servers: connections, reports, delegation and pairing. */
import type { Env, Folders } from '../local/folders.ts';
import { DelegatedBoards } from './delegation/delegated-boards.ts';
import { Pairing } from './pairing/pairing.ts';
import type { PortDeps, Ports } from './ports.ts';
import { Reports } from './reports/reports.ts';
import { CredentialStore } from './server-link/credentials.ts';
import { createEnvironment } from './server-link/environment.ts';
import { Servers } from './server-link/servers.ts';
import { savedSeats } from './sessions/saved-seats.ts';

interface ServerPortsOptions {
  folders: Folders;
  env: Env;
  /** The version of this build. */
  version: string;
}

export function serverPorts(
  { folders, env, version }: ServerPortsOptions,
  { clock, journal, log, sessions, seats, events, serverEvents }: PortDeps,
): Omit<Ports, 'adapters'> {
  const credentials = new CredentialStore(folders, env);
  const servers = new Servers({
    environment: createEnvironment(clock, log, version),
    credentials,
    events: serverEvents,
  });
  const reports = new Reports({ servers, clock, log, journal });
  const delegatedBoards = new DelegatedBoards({ servers, credentials, folders, env, log });
  const pairing = new Pairing({ servers, credentials, folders, env, journal, log, sessions, seats });
  reports.listen(serverEvents);
  pairing.listen(serverEvents, events);
  serverEvents.on('keyEnded', (origin) => delegatedBoards.forget(origin));
  return { servers, reports, saved: savedSeats(credentials), delegatedBoards, pairing };
}
