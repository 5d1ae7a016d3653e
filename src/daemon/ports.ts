/** The parts of the daemon that reach servers and agent programs. Tests replace some of them. */
import type { Adapters } from './adapter.ts';
import type { Common } from './common.ts';
import type { DelegatedBoards } from './delegation/delegated-boards.ts';
import type { Pairing } from './pairing/pairing.ts';
import type { Reports } from './reports/reports.ts';
import type { ServerEvents } from './server-link/link.ts';
import type { Servers } from './server-link/servers.ts';
import type { SavedSeats } from './sessions/saved-seats.ts';
import type { Sessions } from './sessions/sessions.ts';

export interface Ports {
  servers: Servers;
  adapters: Adapters;
  reports: Pick<Reports, 'session' | 'released' | 'queued' | 'plan' | 'close'>;
  saved: SavedSeats;
  delegatedBoards: Pick<DelegatedBoards, 'originOf' | 'boards' | 'join' | 'createBoard' | 'close'>;
  pairing: Pairing;
}

/** What the ports need from the daemon. */
export interface PortDeps extends Common {
  sessions: Sessions;
  /** Events that server connections emit and the daemon listens to. */
  serverEvents: ServerEvents;
}
