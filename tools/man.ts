/** Writes the man pages from the manifest. The same manifest always gives the same pages: no date, no path. */
import type { Catalog } from '../src/cli/help/catalog.ts';
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
