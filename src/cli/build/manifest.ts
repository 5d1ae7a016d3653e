/** Writes oclif.manifest.json from the built commands, with the framework's own discovery. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Plugin } from '@oclif/core/config';
import { packageRoot, runs } from './write.ts';

/** The manifest of a built package, as text; the same build always gives the same text. */
export async function manifestText(root: string): Promise<string> {
  const plugin = new Plugin({
    root,
    type: 'core',
    isRoot: true,
    ignoreManifest: true,
    respectNoCacheDefault: true,
    errorOnManifestCreate: true,
  });
  await plugin.load();
  return `${JSON.stringify(sorted(plugin.manifest), null, 1)}\n`;
}

/** Keys in order, whatever order the file system gave them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined && typeof part !== 'function');
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sorted(part)]));
}

if (runs(import.meta.url)) writeFileSync(join(packageRoot, 'oclif.manifest.json'), await manifestText(packageRoot));
