/** Updates the manifest and the page for `bin/dev.js`. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUpToDate } from './write.ts';

/** Writes oclif.manifest.json if a source is newer. */
export async function updateManifest(root: string): Promise<void> {
  const file = join(root, 'oclif.manifest.json');
  if (isUpToDate(file, root, ['package.json', 'src/cli', 'src/commands'])) return;
  const { manifestText } = await import('./manifest.ts');
  // Another process may be reading it.
  const written = `${file}.${process.pid}`;
  writeFileSync(written, await manifestText(root));
  renameSync(written, file);
}

/** Builds the page if a source is newer. */
export async function updatePage(root: string): Promise<void> {
  const file = join(root, 'dist', 'web', 'index.html');
  if (isUpToDate(file, root, ['src/web', 'src/client', 'src/contract'])) return;
  const { buildWeb } = await import('./web.ts');
  await buildWeb(root);
}
