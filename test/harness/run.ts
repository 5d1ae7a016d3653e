/**
 * Installs the programs, apart from the product, and runs the tests in them; what these show goes into the README's table.
 * With `--latest` the newest versions that the package registry has, which the profiles then name as proved.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = 'test/harness';
const packages: Record<string, { folder: string; name: string }> = {
  'claude-code': { folder: here, name: '@anthropic-ai/claude-code' },
  codex: { folder: here, name: '@openai/codex' },
  omp: { folder: `${here}/omp`, name: '@oh-my-pi/pi-coding-agent' },
};
const words = process.argv.slice(2);
const meant = words.includes('omp') ? ['omp'] : ['claude-code', 'codex'];
const tests = words.includes('omp') ? `${here}/omp/*.test.ts` : `${here}/*.test.ts`;

function run(program: string, args: string[]): void {
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, HARNESS_RECORD: '1' },
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const npm = (...args: string[]): void => run('npm', [...args, '--no-fund', '--no-audit']);

for (const folder of new Set([here, ...meant.map((harness) => packages[harness]!.folder)])) {
  const newest = meant.map((harness) => packages[harness]!).filter((one) => one.folder === folder);
  if (words.includes('--latest') && newest.length > 0)
    npm('install', '--save-exact', '--prefix', folder, ...newest.map(({ name }) => `${name}@latest`));
  else npm('ci', '--prefix', folder);
}
run('npm', ['run', '--silent', 'build']);
run(join(root, 'node_modules/.bin/tsc'), ['-p', here, '--noEmit']);
run(join(root, 'node_modules/.bin/mocha'), [tests]);

// Only a run in which everything holds gets here.
for (const harness of meant) {
  const { folder, name } = packages[harness]!;
  const { version } = JSON.parse(readFileSync(join(root, folder, 'node_modules', name, 'package.json'), 'utf8'));
  const profile = join(root, 'src/harness/profiles', `${harness}.ts`);
  const text = readFileSync(profile, 'utf8');
  writeFileSync(profile, text.replace(/proved_version: '[^']*'/, `proved_version: '${version}'`));
}
