/** Builds the web page into `dist/web`: files named by their hash, each also compressed, and the page that loads them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type InlineConfig, type Plugin } from 'vite';

/** Whether a module is small enough for screens that do not use it. */
const isLight = (id: string): boolean => !/marked|markdown|purify|highlight|syntax/.test(id);

const config = (root: string, sources: Set<string>): InlineConfig => ({
  root: join(root, 'src', 'web'),
  configFile: false,
  logLevel: 'warn',
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [noteSources(root, sources)],
  worker: { format: 'es', plugins: () => [noteSources(root, sources)] },
  build: {
    outDir: join(root, 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // A data: URL would need an exception in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // A browser opens six connections, so few files load faster: modules shared by four screens go into one file.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'page', test: isLight, minShareCount: 4 }] } } },
  },
});

/** Writes `dist/web`. Answers the files that it was made of, from the root. */
export async function buildWeb(root: string): Promise<string[]> {
  const sources = new Set<string>();
  await build(config(root, sources));
  compressAll(join(root, 'dist', 'web'));
  return [...sources].sort();
}

/** Records the files of packages that are bundled. */
const noteSources = (root: string, sources: Set<string>): Plugin => ({
  name: 'note-sources',
  moduleParsed({ id }) {
    const path = relative(root, id.split('?')[0]!);
    if (path.startsWith('node_modules')) sources.add(path);
  },
});

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
