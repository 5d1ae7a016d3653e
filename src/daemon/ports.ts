/** The daemon's world, as it really is: servers, programs that run agents, the text they read, what is saved here. */

import { sleep } from '../client/time.ts';
import { createAdapters } from '../harness/adapters/index.ts';
import { loadProfiles } from '../harness/load.ts';
import type { Build } from '../local/build.ts';
import type { Env, Folders } from '../local/folders.ts';
import { compose } from './compose/compose.ts';
import { CredentialStore } from './credentials/credentials.ts';
import type { DaemonOptions } from './daemon.ts';
import type { LogEvent, LogFields } from './log.ts';
import { Origins } from './origins/origins.ts';
import type { World } from './origins/wire.ts';
import { savedSeats } from './seats/saved.ts';
import { ControlRefusal, type Delegating, type Reports } from './types.ts';

/** @returns what `Daemon.start` connects with. */
export async function realPorts({
  folders,
  env,
  build,
}: {
  folders: Folders;
  env: Env;
  build: Build;
}): Promise<DaemonOptions['ports']> {
  const { all: profiles } = await loadProfiles(folders.config);
  return (events, { log, clock }) => {
    const credentials = new CredentialStore(folders, env);
    const world: World = {
      now: Date.now,
      nowUs: clock.nowUs,
      sleep,
      random: Math.random,
      userAgent: `service/${build.version}`,
      log: (event, fields) => log.write(event as LogEvent, fields as LogFields),
    };
    return {
      origins: new Origins({ world, credentials, events }),
      adapters: createAdapters({ profiles, env }),
      compose,
      saved: savedSeats(credentials),
      reports: unreported,
      delegating: undelegated,
    };
  };
}

const unreported: Reports = { session: () => {}, released: () => {}, plan: () => {}, close: async () => {} };

const refused = async (): Promise<never> => {
  throw new ControlRefusal('delegation_revoked', 'This machine has no delegation.', { hint: 'service login' });
};
const undelegated: Delegating = { boards: refused, join: refused, createBoard: refused, close: () => {} };
