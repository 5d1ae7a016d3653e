/** Builds the web page into `dist/web`: files named by their hash, each also compressed, and the page that loads them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type InlineConfig } from 'vite';

/** Settings of the bundler, for the build and for measuring it. */
export const webConfig = (root: string): InlineConfig => ({
  root: join(root, 'src', 'web'),
  configFile: false,
  logLevel: 'warn',
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    outDir: join(root, 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2024',
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    // A data: address would need a hole in the page's content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});

/** Writes `dist/web`. */
export async function buildWeb(root: string): Promise<void> {
  await build(webConfig(root));
  compressAll(join(root, 'dist', 'web'));
}

const COMPRESSED = /\.(css|html|js|json|svg|webmanifest)$/;

/** Puts a `.br` and a `.gz` beside every file of text. */
function compressAll(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSED.test(name)) continue;
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}
