/**
 * The test build of the daemon: the installed file, with the fault in SERVICE_TEST_FAULTS. Only the kit starts it;
 * `service daemon` ignores that variable.
 */
import { fileURLToPath } from 'node:url';
import { folders } from '../../src/local/folders.ts';
import { loadPacked, setProgram } from '../../src/local/program.ts';
import { faultsOf } from './fault-spec.ts';

const { env } = process;
const fromSources = import.meta.url.endsWith('.ts');
const root = fileURLToPath(new URL(fromSources ? '../..' : '..', import.meta.url));
setProgram({ root, fromSources });
const { run } = await loadPacked<typeof import('../../src/daemon/entry.ts')>('daemon', 'daemon/entry');

process.exit(
  await run({
    env,
    root,
    fromSources,
    folders: folders(env),
    faults: faultsOf(env['SERVICE_TEST_FAULTS']),
    onSignal: (handler) => void process.on('SIGTERM', handler),
  }),
);
