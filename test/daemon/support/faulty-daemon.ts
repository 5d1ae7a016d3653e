/**
 * The daemon as a process that breaks where a test says: `SERVICE_TEST_FAULTS=<point>:<kill|error|delay>[:<pass>]`, or
 * what the file `faults` of its home says when it is sent SIGUSR2. At SIGHUP it throws where nothing catches. The installed program has no such way in.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runDaemon } from '../../../src/daemon/entry.ts';
import { folders as foldersOf } from '../../../src/local/folders.ts';
import { faultsOf } from '../../../tools/harness-kit/fault-spec.ts';

const { env } = process;
const folders = foldersOf(env);
const build = { version: env.SERVICE_TEST_BUILD ?? '0.0.1' };

let current = faultsOf(env.SERVICE_TEST_FAULTS);
process.on('SIGUSR2', () => {
  const path = join(env.SERVICE_HOME ?? '', 'faults');
  current = faultsOf(readFileSync(path, 'utf8'));
  rmSync(path);
});
process.on('SIGHUP', () => {
  void Promise.reject(new RangeError(`not caught at ${env.SERVICE_HOME}`));
  throw new TypeError(`not caught at ${env.SERVICE_HOME}`);
});

process.exit(
  await runDaemon({
    folders,
    env,
    build,
    faults: { at: (point) => current.at(point) },
    onSignal: (handler) => void process.on('SIGTERM', handler),
  }),
);
