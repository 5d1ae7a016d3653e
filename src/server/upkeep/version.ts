/** Which build this is. */
import { readFileSync } from 'node:fs';

/** From package.json, found upwards from here, because the source and the packed file lie at different depths. */
export function buildOf(): { version: string } {
  for (const up of ['../', '../../../']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(`${up}package.json`, import.meta.url), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (manifest.name === 'board-service' && manifest.version !== undefined) return { version: manifest.version };
    } catch {
      // Not there: one level further up.
    }
  }
  return { version: '0.0.0' };
}
