/**
 * Proves the program on other versions of Node.js: `npm run test:node -- 22 26` builds it, runs the tests of rules,
 * client and API on SQLite and those of the built program on the newest release of each; `--short` leaves most of them out. The Nodes come from npm.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const short = process.argv.includes('--short');
const versions = process.argv.slice(2).filter((word) => /^\d+(\.\d+)*$/.test(word));
if (versions.length === 0) throw new Error('say which Node.js: npm run test:node -- 22 26');

const counts = { passed: 0, failed: 0 };
for (const version of versions) {
  const node = install(version);
  const build = await run(node, ['tools/build.ts']);
  if (build.code !== 0) throw new Error(`the build failed on Node.js ${version}`);
  const { printed } = await run(node, ['test/run.ts', short ? '--short' : '--sqlite']);
  const [, passed, failed] = /(\d+) passed, (\d+) failed[^\n]*\n*$/.exec(printed) ?? [];
  counts.passed += Number(passed ?? 0);
  // A run that ends without its counts is a failure of its own.
  counts.failed += Number(failed ?? 1);
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** The Node.js of this version, such as `22`, kept beside the packages. */
function install(version: string): string {
  const { arch, platform } = process;
  const system = platform === 'win32' ? 'win' : platform;
  const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${system}-${arch}`;
  const folder = join(root, 'node_modules', '.cache', `node-${version}`);
  const node = join(folder, 'node_modules', name, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{}');
    const npm = ['install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`];
    const { status } = spawnSync('npm', npm, { stdio: 'inherit', shell: platform === 'win32' });
    if (status !== 0) throw new Error(`Node.js ${version} could not be installed`);
  }
  return node;
}

/** Runs a script in this Node, which is also the first one on its path; answers what it printed, and its exit code. */
async function run(node: string, args: string[]): Promise<{ printed: string; code: number | null }> {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH']}` };
  const words = ['--disable-warning=ExperimentalWarning', ...args];
  const child = spawn(node, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stdout, { end: false });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const printed = await text(child.stdout);
  return { printed, code: (await closed)[0] };
}
