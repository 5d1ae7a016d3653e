/**
 * Packs each part of the program into one file. A short command otherwise spends most of its time finding and reading a
 * hundred small files, and the server longer on that than on its start.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import type { Names } from '../src/cli/help/catalog.ts';
import { commandFiles } from './commands.ts';
import { lazyContract, lazyFramework } from './lazy.ts';

/** Options of a part that is run as a script with top-level await. */
const asModule: BuildOptions = { format: 'esm', define: {}, banner: {} };

/** The parts by the name of their file in `dist`. */
const parts: Record<string, BuildOptions> = {
  entry: { entryPoints: ['src/local/entry.ts'] },
  // Set in `bundle`.
  cli: {},
  // Harnesses run it at each step; it also runs as a script, which saves loading another file.
  hook: {
    entryPoints: ['src/hook/main.ts'],
    footer: { js: "if(require.main===module)module.exports.start(new URL('../bin/run.js',hereUrl).href);" },
  },
  daemon: { entryPoints: ['src/daemon/entry.ts'] },
  // The kit that tests profiles, loaded by `service harness`.
  'harness-kit': { entryPoints: ['tools/harness-kit/kit.ts'] },
  'faulty-daemon': { entryPoints: ['tools/harness-kit/faulty-daemon.ts'], ...asModule },
  profiles: { entryPoints: ['src/harness/load.ts'] },
  keychain: { entryPoints: ['src/local/keys/keychain.child.ts'], ...asModule },
  server: { entryPoints: ['src/server/entry.ts'] },
};

/** Packages with compiled code, which are installed, and those that other packages name but this program never loads. */
const external = [
  ...['better-sqlite3', 'keytar', 'pg-native', 'pg-query-stream', 'sqlite3'],
  ...['mysql', 'mysql2', 'mariadb', 'mariadb/callback', 'tedious', 'oracledb'],
];

/**
 * The files of `dist` by name: `<part>.cjs` or `.mjs` for each part, and the licenses of the packages in them and in the page.
 *
 * @param names how the commands are called
 * @param page files that the page was made of, from the root
 */
export async function bundle(root: string, names: Names, page: string[]): Promise<Record<string, string>> {
  const stdin = { contents: entry(root, names), resolveDir: root, sourcefile: 'entry.ts', loader: 'ts' as const };
  const all: Record<string, BuildOptions> = { ...parts, cli: { stdin } };
  for (const [name, contents] of Object.entries(libraries))
    all[name] = { stdin: { contents, resolveDir: root, sourcefile: `${name}.js` } };
  const packed = await Promise.all(Object.entries(all).map(([name, from]) => pack(root, name, from)));
  const files = Object.fromEntries(packed.map(({ file, text }) => [file, text]));
  return { ...files, 'licenses.txt': licenses(root, [...packed.flatMap(({ sources }) => sources), ...page]) };
}

interface Packed {
  file: string;
  text: string;
  /** Files that it was made of, from the root. */
  sources: string[];
}

async function pack(root: string, name: string, from: BuildOptions): Promise<Packed> {
  const file = `${name}.${from.format === 'esm' ? 'mjs' : 'cjs'}`;
  const { outputFiles = [], metafile } = await build({
    absWorkingDir: root,
    outfile: join(root, 'dist', file),
    write: false,
    metafile: true,
    bundle: true,
    // In this format Node's own modules, too, are loaded only by the code that uses them.
    format: 'cjs',
    // Other packed files are loaded with `require`, which uses the code cache.
    supported: { 'dynamic-import': from.format === 'esm' },
    platform: 'node',
    target: 'node22',
    charset: 'ascii',
    define: { 'import.meta.url': 'hereUrl' },
    banner: { js: "const hereUrl=require('url').pathToFileURL(__filename).href;" },
    legalComments: 'none',
    // Identifiers are kept, so that stack traces stay readable.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    // The package's UMD build hides its imports from the bundler.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    external,
    plugins: [withoutPlugins, lazyFramework, lazyContract, libraryFiles, withoutShapes],
    ...from,
  });
  // ASCII is read twice as fast; the remaining other characters are in regular expressions.
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const code = outputFiles[0]!.text.replaceAll(/[^\x00-\x7f]/g, escaped);
  const text = `${code}//${createHash('sha256').update(code).digest('hex')}`;
  return { file, text, sources: Object.keys(metafile!.inputs) };
}

/** Large packages used by several parts or by few commands: each in its own file, loaded on demand. */
const libraries: Record<string, string> = {
  'jq-wasm': "export { loadJq } from 'jq-wasm/inline';",
  inquirer: "module.exports = require('inquirer').default;",
  // Named one by one: Node does not find the names of a package in CommonJS that is passed on whole.
  yaml: "export { LineCounter, parseDocument } from 'yaml';",
  zod: "export * from 'zod';",
};

const libraryFiles: Plugin = {
  name: 'library-files',
  setup({ onResolve }) {
    const filter = new RegExp(`^(${Object.keys(libraries).join('|')})$`);
    onResolve({ filter }, ({ path, importer }) =>
      importer.endsWith('.ts') ? { path: `./${path}.cjs`, external: true, sideEffects: false } : undefined,
    );
  },
};

/** The start of the command line, with a loader for each command: a command that does not run is not evaluated. */
function entry(root: string, names: Names): string {
  const loaders = Object.entries(commandFiles(root)).map(([id, file]) => `  '${id}': () => import('command:${file}'),`);
  return [
    "import { main } from './src/cli/main.ts';",
    `const loaders = {\n${loaders.join('\n')}\n};`,
    `const names = new Map(${JSON.stringify([...names])});`,
    'export const start = (entryUrl: string) => main(entryUrl, { names, loaders });',
  ].join('\n');
}

/**
 * Packs only the class of a command's file. The shape of its JSON, which only schemas and tests use and which would load the
 * whole contract, is dropped by tree shaking.
 */
const withoutShapes: Plugin = {
  name: 'without-shapes',
  setup({ initialOptions, onLoad, onResolve }) {
    onResolve({ filter: /^command:/ }, ({ path }) => ({ path: path.slice('command:'.length), namespace: 'command' }));
    onLoad({ filter: /.*/, namespace: 'command' }, ({ path }) => ({
      contents: `export { default } from './src/commands/${path}';`,
      resolveDir: initialOptions.absWorkingDir!,
    }));
    onResolve({ filter: /\/shapes\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    }));
  },
};

/** Replaces what the framework needs only for plugins, templates and its own help, which this program does not use. */
const withoutPlugins: Plugin = {
  name: 'without-plugins',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^debug$/ }, ({ path, importer }) =>
      importer.includes('@oclif') ? { path, namespace: 'silent' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'silent' }, () => ({ contents: 'module.exports = () => () => {};' }));
    const filter = /^(ejs|minimatch|tinyglobby|lilconfig|wsl-utils|cli-spinners)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'unused' }));
    onResolve({ filter: /^\.\.?\/(config|help)\b/ }, ({ path, importer }) =>
      /@oclif.core.lib.(config|help)\b/.test(join(importer, '..', path)) ? { path, namespace: 'unused' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get(_, name) { if (name !== '__esModule') throw new Error('${path} is not part of this program'); } });`,
    }));
  },
};

/** The license texts of all packages in the packed files, which their licenses require. */
function licenses(root: string, sources: string[]): string {
  const folder = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/;
  const folders = sources.flatMap((file) => folder.exec(file)?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : `\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}`;
    return `${name} ${version}, ${license}${text}${compiledIn(root, name)}`;
  });
  return `${[...new Set(texts)].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** The licenses of programs that a package contains in compiled form. */
function compiledIn(root: string, name: string): string {
  const file = join(root, 'tools', 'licenses', `${name}.txt`);
  return existsSync(file) ? `\n\n${readFileSync(file, 'utf8').trim()}` : '';
}
