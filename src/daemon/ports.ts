/** The daemon's world, as it really is: servers, programs that run agents, the text they read, what is saved here. */
import { createAdapters } from '../harness/adapters/index.ts';
import { loadProfiles } from '../harness/load.ts';
import { recordedPrograms } from '../harness/setup/installed.ts';
import type { Build } from '../local/build.ts';
import type { Env, Folders } from '../local/folders.ts';
import type { DaemonOptions } from './daemon.ts';
import { serverPorts } from './server-ports.ts';

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
  return (events, core) => ({
    ...serverPorts({ folders, env, version: build.version }, events, core),
    adapters: createAdapters({ profiles, env, recorded: () => recordedPrograms(folders.state) }),
  });
}
