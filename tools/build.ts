/**
 * Builds the program. `node tools/build.ts` writes all generated files; `node tools/build.ts --start` writes only what a
 * start needs, if a source is newer than the last build. Unchanged files are not written.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isUpToDate, writeChanged, writeFolder } from './write.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const note = join(root, 'dist', 'build.json');

if (process.argv.includes('--start')) await buildForStart();
else await buildAll();
noteCommit();

async function buildForStart(): Promise<void> {
  if (isUpToDate(note, root, ['package.json', 'package-lock.json', 'src', 'migrations', 'tools'])) return;
  process.stderr.write('Building the program…\n');
  const start = performance.now();
  await packAndDescribe();
  process.stderr.write(`Built in ${((performance.now() - start) / 1000).toFixed(1)} s.\n`);
}

async function buildAll(): Promise<void> {
  const catalog = await packAndDescribe();
  const { manPages } = await import('./man.ts');
  const { docPages } = await import('./docs.ts');
  const { jsonSchemas } = await import('./json-schemas.ts');
  const { allShapes } = await import('./shapes.ts');
  const shapes = await allShapes();
  writeFolder(join(root, 'man'), manPages(catalog), /^service.*\.[17]$/);
  writeFolder(join(root, 'docs', 'cli'), docPages(catalog, shapes), /\.md$/);
  writeFolder(join(root, 'schemas', 'cli'), jsonSchemas(shapes), /\.json$/);
}

/** The clients' table of operations, the packed files, and the manifest that names their commands. */
async function packAndDescribe() {
  const { routesText } = await import('./routes.ts');
  writeChanged(join(root, 'src', 'contract', 'routes.ts'), routesText());
  const { bundle } = await import('./bundle.ts');
  const { manifestText } = await import('./manifest.ts');
  const { commandNames, readCatalog } = await import('../src/cli/help/catalog.ts');
  const { buildWeb } = await import('./web.ts');
  const page = await buildWeb(root);
  const manifest = await manifestText(root);
  const files = await bundle(root, commandNames(JSON.parse(manifest)), page);
  // The note is written last: an interrupted build does not count. The page's folder is written by its own bundler.
  writeFolder(join(root, 'dist'), files, /^(?!web$)/);
  writeChanged(join(root, 'oclif.manifest.json'), manifest);
  return readCatalog(root);
}

/**
 * Records the commit of this build, to distinguish builds of one version. Every build writes the file, because its time is
 * compared with the sources.
 */
function noteCommit(): void {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%H %cI'], { cwd: root, encoding: 'utf8' });
  const [commit, commit_time] = stdout?.trim().split(' ') ?? [];
  writeFileSync(note, `${JSON.stringify(status === 0 && commit && commit_time ? { commit, commit_time } : {})}\n`);
}
