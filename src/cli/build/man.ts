/** Writes the man pages from the manifest. The same manifest always gives the same pages: no date, no path. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Catalog, readCatalog } from '../help/catalog.ts';
import { mainPage, topicPage, topicsOf } from './man-pages.ts';
import { environmentPage, exitCodesPage } from './man-tables.ts';

/** All pages by file name. */
export function manPages(catalog: Catalog): Record<string, string> {
  const pages: Record<string, string> = {
    'service.1': mainPage(catalog),
    'service-environment.7': environmentPage(catalog.version),
    'service-exit-codes.7': exitCodesPage(catalog.version),
  };
  for (const topic of topicsOf(catalog)) pages[`service-${topic}.1`] = topicPage(catalog, topic);
  return pages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');
  const folder = join(root, 'man');
  mkdirSync(folder, { recursive: true });
  // A page of a topic that is gone must not stay.
  for (const name of readdirSync(folder)) if (/^service.*\.[17]$/.test(name)) rmSync(join(folder, name));
  for (const [name, text] of Object.entries(manPages(readCatalog(root)))) writeFileSync(join(folder, name), text);
}
