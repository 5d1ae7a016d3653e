/** Entry of `dist/daemon.cjs`, which contains the whole daemon in one file. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAdapters } from '../harness/adapters/index.ts';
import { loadProfiles } from '../harness/load.ts';
import { recordedPrograms } from '../harness/setup/installed.ts';
import { type Build, buildOf } from '../local/build.ts';
import { Failure } from '../local/failure.ts';
import { type Env, type Folders, folders as foldersOf } from '../local/folders.ts';
import { setProgram } from '../local/program.ts';
import type { DaemonOptions } from './daemon.ts';
import type { Faults } from './faults.ts';
import { mask } from './log.ts';
import { runDaemon } from './main.ts';
import { serverPorts } from './server-ports.ts';

interface EntryOptions {
  folders: Folders;
  env: Env;
  /** The package's folder. */
  root: string;
  fromSources: boolean;
  onSignal(handler: () => void): void;
  /** Only in a test build. */
  faults?: Faults;
}

/** @returns the exit code. */
export async function run({ folders, env, root, fromSources, onSignal, faults }: EntryOptions): Promise<number> {
  setProgram({ root, fromSources });
  const build = buildOf(root);
  const ports = await createPorts({ folders, env, build });
  return runDaemon({ folders, build, onSignal, ports, ...(faults ? { faults } : {}) });
}

/** Connects the daemon with the servers that this machine knows and the programs that it has profiles for. */
export async function createPorts({
  folders,
  env,
  build,
}: Pick<EntryOptions, 'folders' | 'env'> & { build: Build }): Promise<DaemonOptions['ports']> {
  const { all: profiles } = await loadProfiles(folders.config);
  return (deps) => ({
    ...serverPorts({ folders, env, version: build.version }, deps),
    adapters: createAdapters({ profiles, env, recorded: () => recordedPrograms(folders.state) }),
  });
}

/** Runs `service daemon` as a spawned process: without the command line, which would only take memory. */
export async function start(entryUrl: string): Promise<void> {
  const program = fileURLToPath(entryUrl);
  const root = join(program, '..', '..');
  const env = process.env;
  const onSignal = (handler: () => void): void => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, handler);
  };
  // The process that started this one may close its output.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    process.exit(await run({ folders: foldersOf(env), env, root, fromSources: false, onSignal }));
  } catch (error) {
    const { message, hint = '' } = error as Failure;
    process.stderr.write(
      `${mask(error instanceof Failure ? [message, hint].filter(Boolean).join('\n') : String(error))}\n`,
    );
    process.exit(1);
  }
}
