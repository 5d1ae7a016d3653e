/** Tests that judge a run as a whole: what all tests together did. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Suite } from 'mocha';

const folder = fileURLToPath(new URL('../api/', import.meta.url));

/** Defines the tests only where every other test of the API runs before them; of a part of the run they say nothing. */
export function ofTheWholeApi(name: string, define: () => void): void {
  describe(name, function () {
    const loaded = new Set((this.parent as Suite).suites.map(({ file }) => file));
    const others = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.test.ts') && !file.startsWith('zz-'),
    );
    if (others.every((file) => loaded.has(join(folder, file)))) define();
  });
}
