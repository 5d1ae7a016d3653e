/** What the core meets servers with: connections, the text made of what they answer, reports, and the machine's rights. */
import type { Env, Folders } from '../local/folders.ts';
import { compose } from './compose/compose.ts';
import type { Core, Ports } from './core.ts';
import { Delegating } from './delegation/delegating.ts';
import { Pairing } from './pairing/pairing.ts';
import { Reports } from './reports/reports.ts';
import { CredentialStore } from './server-link/credentials.ts';
import { Origins } from './server-link/servers.ts';
import { worldOf } from './server-link/world.ts';
import { savedSeats } from './sessions/saved-seats.ts';
import { finalProblems, type OriginEvents, type Reports as ReportsPort } from './types.ts';

export interface ServerPortsOptions {
  folders: Folders;
  env: Env;
  /** Of this build. */
  version: string;
}

export type ServerPorts = Omit<Ports, 'adapters'>;

/** @param events told what servers say. */
export function serverPorts(
  { folders, env, version }: ServerPortsOptions,
  events: OriginEvents,
  core: Core,
): ServerPorts {
  const { clock, journal, log } = core;
  const credentials = new CredentialStore(folders, env);
  const heard: OriginEvents = {
    inbox: (seat, read) => {
      reports.work(seat, read.inbox.work);
      pairing.endpoints.inbox(seat, read);
      events.inbox(seat, read);
    },
    mode: (seat, mode, revision) => {
      reports.mode(seat, mode, revision);
      events.mode(seat, mode, revision);
    },
    read: (...told) => events.read(...told),
    notices: (seat, notices) => {
      pairing.notices(seat, notices);
      events.notices(seat, notices);
    },
    problem: (seat, problem) => {
      if (problem === 'unauthorized' || (problem !== null && finalProblems.includes(problem)))
        pairing.endpoints.seatOver(seat);
      events.problem(seat, problem);
    },
    token: (...told) => events.token(...told),
  };
  const origins = new Origins({
    world: worldOf(clock, log, version),
    credentials,
    events: heard,
    hooks: {
      keyEnded: (origin) => {
        delegating.forget(origin);
        pairing.endpoints.keyEnded(origin);
      },
      pairing: (origin, requestId) => pairing.endpoints.moved(origin, requestId),
    },
  });
  const reports = new Reports({ origins, clock, log, journal });
  const delegating = new Delegating({ origins, credentials, folders, env, log });
  const pairing = new Pairing({ origins, credentials, folders, env, core });
  pairing.endpoints.start();
  // Whatever changes a session may end what it takes part in.
  const told: ReportsPort = {
    session: (view) => {
      reports.session(view);
      pairing.endpoints.sessionChanged(view);
    },
    released: (seat) => reports.released(seat),
    queued: (...queued) => reports.queued(...queued),
    plan: (...plan) => reports.plan(...plan),
    close: () => reports.close(),
  };
  return { origins, compose, reports: told, saved: savedSeats(credentials), delegating, pairing };
}
