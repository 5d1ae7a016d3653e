/** What the core meets servers with: connections, the text made of what they answer, reports, and the machine's rights. */
import type { Env, Folders } from '../local/folders.ts';
import { compose } from './compose/compose.ts';
import type { Core, Ports } from './core.ts';
import { CredentialStore } from './credentials/credentials.ts';
import { Delegating } from './delegation/delegating.ts';
import { Origins } from './origins/origins.ts';
import { worldOf } from './origins/world.ts';
import { Reports } from './reports/reports.ts';
import { savedSeats } from './seats/saved.ts';
import type { OriginEvents } from './types.ts';

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
  { clock, log }: Pick<Core, 'clock' | 'log'>,
): ServerPorts {
  const credentials = new CredentialStore(folders, env);
  const heard: OriginEvents = {
    inbox: (seat, read) => {
      reports.work(seat, read.inbox.work);
      events.inbox(seat, read);
    },
    mode: (seat, mode, revision) => {
      reports.mode(seat, mode, revision);
      events.mode(seat, mode, revision);
    },
    read: (...told) => events.read(...told),
    notices: (...told) => events.notices(...told),
    problem: (...told) => events.problem(...told),
    token: (...told) => events.token(...told),
  };
  const origins = new Origins({
    world: worldOf(clock, log, version),
    credentials,
    events: heard,
    hooks: { keyEnded: (origin) => delegating.forget(origin) },
  });
  const reports = new Reports({ origins, clock, log });
  const delegating = new Delegating({ origins, credentials, folders, env, log });
  return { origins, compose, reports, saved: savedSeats(credentials), delegating };
}
