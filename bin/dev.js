#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// Runs the command line from its TypeScript sources, without a build.
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const entryUrl = pathToFileURL(__filename).href;

async function runHook() {
  const { start } = await import('../src/hook/main.ts');
  await start(entryUrl);
}

async function runCommand() {
  const { updateManifest, updatePage } = await import('../tools/dev.ts');
  const root = join(__dirname, '..');
  await updateManifest(root);
  if (process.argv[2] === 'serve') await updatePage(root);
  const { main } = await import('../src/cli/main.ts');
  await main(entryUrl);
}

void (process.argv[2] === 'hook' ? runHook() : runCommand());
