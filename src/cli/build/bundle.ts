/**
 * Packs the command line and the framework under it into few files. A short command otherwise spends most of its time
 * on finding and reading a hundred small ones. The server is one of its own; all other packages stay outside.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/**
 * Bundles `src/cli/main.ts` and every command into `dist/cli.cjs`; what a command does not use is not even evaluated. What
 * harnesses run becomes `dist/hook.cjs`, which has to start faster still; `dist/daemon.cjs` is the delivery daemon,
 * `dist/server.cjs` the server, whose hundreds of files would take longer to find than to run.
 */
export async function bundle(root: string): Promise<void> {
  const stdin = { contents: entry(root), resolveDir: root, sourcefile: 'entry.ts', loader: 'ts' as const };
  await Promise.all([
    packed(root, 'cli.cjs', { stdin }),
    packed(root, 'hook.cjs', { entryPoints: [join(root, 'src', 'hook', 'main.ts')], footer: { js: runAlone } }),
    // The daemon outlives an installation that is replaced under it, so nothing of it is read later.
    packed(root, 'daemon.cjs', {
      entryPoints: [join(root, 'src', 'daemon', 'entry.ts')],
      plugins: [],
      external: ['better-sqlite3', 'keytar'],
    }),
    packed(root, 'server.cjs', {
      entryPoints: [join(root, 'src', 'server', 'entry.ts')],
      plugins: [],
      external: ['better-sqlite3', 'pg', ...neverLoaded],
      define: { 'import.meta.url': 'hereUrl' },
    }),
  ]);
}

/** Drivers of databases that this program does not speak to, which Knex names. */
const neverLoaded = [
  'mysql',
  'mysql2',
  'mariadb',
  'mariadb/callback',
  'tedious',
  'oracledb',
  'sqlite3',
  'pg-query-stream',
];

/** The script that hooks run starts that file by itself, which saves it the loading of one more. */
const runAlone =
  "if(require.main===module)module.exports.start(require('url').pathToFileURL(require('path').join(__dirname,'..','bin','run.js')).href);";

async function packed(root: string, name: string, from: BuildOptions): Promise<void> {
  const file = join(root, 'dist', name);
  const { forget, keep } = (await import(pathToFileURL(join(root, 'bin', 'load.js')).href)) as Kept;
  forget(file);
  const { outputFiles } = await build({
    absWorkingDir: root,
    outfile: file,
    write: false,
    bundle: true,
    // In this format Node's own modules, too, are loaded only by the code that uses them.
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    legalComments: 'eof',
    // Names stay, so that errors can be understood; what goes is what would be read for nothing.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    plugins: [onlyFramework],
    ...from,
  });
  const text = selfContained(outputFiles?.[0]?.text ?? '');
  writeFileSync(file, text);
  // A small file is compiled sooner than another one is read.
  if (text.length > SMALL) keep(file);
}

/** What `bin/load.js` gives: the compiled form of a packed file. */
interface Kept {
  forget(file: string): void;
  keep(file: string): void;
}

/**
 * A file that is not loaded as a module is told where it is, and how to import one that is. It holds ASCII alone, which is
 * read much faster; what is left of others after packing stands in regular expressions.
 */
function selfContained(text: string): string {
  const strict = text.startsWith('"use strict";') ? '"use strict";' : '';
  const own =
    "var importHere;importHere??=name=>import(name);const hereUrl=require('url').pathToFileURL(__filename).href;";
  const body = text.slice(strict.length).replaceAll(/\bimport\(/g, 'importHere(');
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return strict + own + body.replaceAll(/[^\x00-\x7f]/g, escaped);
}

const SMALL = 2 ** 18;

/** The start of the program, with a loader for each command. */
function entry(root: string): string {
  const files = readdirSync(join(root, 'src', 'commands'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'))
    .sort();
  const loaders = files.map((file) => {
    const id = file.replace(/\.ts$/, '').replaceAll('/', ':');
    return `  '${id}': () => import('./src/commands/${file}'),`;
  });
  return [
    "import { main } from './src/cli/main.ts';",
    `const loaders = {\n${loaders.join('\n')}\n};`,
    'export const start = (entryUrl: string) => main(entryUrl, loaders);',
  ].join('\n');
}

/** What the framework needs to find plugins and to fill templates, which this program never asks it for. */
const unused = /^(ejs|minimatch|tinyglobby|lilconfig|wsl-utils)$/;

/** Packages stay outside, except the framework and what it brings along. */
const onlyFramework: Plugin = {
  name: 'only-framework',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: unused }, ({ path }) => ({ path, namespace: 'unused' }));
    onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get(_, name) { if (name !== '__esModule') throw new Error('${path} is not part of this program'); } });`,
    }));
    onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
      const ours = !importer.includes('node_modules');
      if (path.startsWith('@oclif/core') || !ours) return undefined;
      return { path, external: true };
    });
  },
};

/** Notes which commit this is a build of, where that can be told: two builds of one version are told apart by it. */
function noteCommit(root: string): void {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%H %cI'], { cwd: root, encoding: 'utf8' });
  const [commit, commit_time] = stdout?.trim().split(' ') ?? [];
  const note = status === 0 && commit && commit_time ? { commit, commit_time } : {};
  writeFileSync(join(root, 'dist', 'build.json'), `${JSON.stringify(note)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');
  noteCommit(root);
  await bundle(root);
}
