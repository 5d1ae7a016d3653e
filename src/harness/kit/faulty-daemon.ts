/**
 * The test build of the daemon: the very file that is installed, with a fault that SERVICE_TEST_FAULTS names. Only the kit
 * starts it; what `service daemon` runs has no such way in.
 */
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folders } from '../../local/folders.ts';
import { faultsOf } from './fault-spec.ts';

// Node 22 and later keep the compiled form of what this loads.
(module as { enableCompileCache?: () => void }).enableCompileCache?.();
const { env } = process;
const fromSources = import.meta.url.endsWith('.ts');
const root = fileURLToPath(new URL(fromSources ? '../../..' : '../../../..', import.meta.url));
const { run } = (
  fromSources
    ? await import('../../daemon/entry.ts')
    : module.createRequire(import.meta.url)(join(root, 'dist', 'daemon.cjs'))
) as typeof import('../../daemon/entry.ts');

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
