/** Builds the web page into `dist/web`: files named by their hash, each also compressed, and the page that loads them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type InlineConfig, type Plugin } from 'vite';

/** Whether a module is small enough for screens that do not use it. */
const isLight = (id: string): boolean => !/marked|markdown|purify|highlight|syntax/.test(id);

/** What a conversation needs until it can be read: these and all that they import. */
const FIRST_LOAD = ['main.tsx', 'board/board-screen.tsx'];

const config = (root: string, sources: Set<string>, first: Set<string>): InlineConfig => ({
  root: join(root, 'src', 'web'),
  configFile: false,
  logLevel: 'warn',
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [noteSources(root, sources), noteFirstLoad(root, first)],
  worker: { format: 'es', plugins: () => [noteSources(root, sources)] },
  build: {
    outDir: join(root, 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // A data: URL would need an exception in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // A browser opens six connections, so few files load faster. What the first load does not need stays out of its files.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'page', test: (id) => isLight(id) && first.has(id), minShareCount: 2 },
            {
              name: 'shared',
              test: (id) => isLight(id) && !first.has(id),
              minShareCount: 4,
              // What they import would come along, of the first load too.
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
});

/** Writes `dist/web`. Answers the files that it was made of, from the root. */
export async function buildWeb(root: string): Promise<string[]> {
  const sources = new Set<string>();
  await build(config(root, sources, new Set()));
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

/** Records the modules of the first load, before they are shared out to files. */
const noteFirstLoad = (root: string, first: Set<string>): Plugin => ({
  name: 'note-first-load',
  buildEnd() {
    const add = (id: string): void => {
      if (first.has(id)) return;
      first.add(id);
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(imported);
    };
    for (const path of FIRST_LOAD) add(join(root, 'src', 'web', path));
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
