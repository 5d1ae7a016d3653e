#!/usr/bin/env node
// Runs the command line from its TypeScript sources, without a build.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

if (process.env.SERVICE_DEV_LOADED && process.argv[2] === 'hook') {
  const { start } = await import('../src/hook/main.ts');
  await start(import.meta.url);
} else if (process.env.SERVICE_DEV_LOADED) {
  const { main } = await import('../src/cli/main.ts');
  await main(import.meta.url);
} else {
  const script = fileURLToPath(import.meta.url);
  const run = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), script, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, SERVICE_DEV_LOADED: '1' },
  });
  process.exit(run.status ?? 1);
}
