/**
 * Runs every test in a few processes side by side: most of the time a test waits for a socket, a disk or a database, and
 * one process would leave the other cores idle. What each printed is shown as one piece when it is done; the closing line
 * counts them all. The tests in the real agent programs, which are a package of their own, take part once it is installed.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Job {
  name: string;
  files: string[];
  env?: Record<string, string>;
}

/** The longest first, so that none is left alone at the end. */
const jobs: Job[] = [
  { name: 'API on Postgres', files: ['test/api/**/*.test.ts'], env: { TEST_DATABASES: 'postgres' } },
  { name: 'command line, d to g', files: ['test/cli/[d-g]*.test.ts'] },
  { name: 'command line, s to y', files: ['test/cli/[s-y]*.test.ts'] },
  { name: 'command line, a to c', files: ['test/cli/[a-c]*.test.ts'] },
  {
    name: 'rules, client, API on SQLite',
    files: ['test/{rules,client,api}/**/*.test.ts'],
    env: { TEST_DATABASES: 'sqlite' },
  },
  { name: 'command line, h to l', files: ['test/cli/[h-l]*.test.ts'] },
  { name: 'faults', files: ['test/faults/**/*.test.ts'] },
  { name: 'examples of the command line', files: ['test/cli/z*.test.ts'] },
  { name: 'command line, m to r', files: ['test/cli/[m-r]*.test.ts'] },
  { name: 'daemon', files: ['test/daemon/**/*.test.ts'] },
];
// What npm writes last.
const programs = new URL('harness/node_modules/.package-lock.json', import.meta.url);
// They take two minutes, most of which they wait: not the last ones, when nothing else is left to do.
if (existsSync(programs)) jobs.splice(2, 0, { name: 'real agent programs', files: ['test/harness/*.test.ts'] });

interface Result {
  passed: number;
  failed: number;
}

/**
 * Each leaves its core idle for a third of its time, so that two cores carry three; tests that watch for timing suffer when
 * there are more.
 */
const lanes = 3;
const root = fileURLToPath(new URL('..', import.meta.url));
const waiting = [...jobs];
const results: Result[] = [];

await Promise.all(Array.from({ length: lanes }, lane));
const total = results.reduce((sum, one) => ({ passed: sum.passed + one.passed, failed: sum.failed + one.failed }));
process.exitCode = total.failed > 0 ? 1 : 0;
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);

async function lane(): Promise<void> {
  for (let job = waiting.shift(); job; job = waiting.shift()) results.push(await run(job));
}

/** A process that ends without its counts, or not well, is a failure of its own. */
function run({ name, files, env }: Job): Promise<Result> {
  return new Promise((resolve) => {
    const mocha = fileURLToPath(new URL('../node_modules/mocha/bin/mocha.js', import.meta.url));
    const child = spawn(process.execPath, [mocha, '--reporter', 'test/support/reporter.cjs', ...files], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed: Buffer[] = [];
    const keep = (chunk: Buffer): void => void printed.push(chunk);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('close', (code) => {
      const text = Buffer.concat(printed).toString();
      process.stdout.write(`\n=== ${name}\n${text}`);
      const [, passed, failed] = /(\d+) passed, (\d+) failed[^\n]*\n*$/.exec(text) ?? [];
      const counted = { passed: Number(passed ?? 0), failed: Number(failed ?? 0) };
      const broken = passed === undefined || (code !== 0 && counted.failed === 0);
      resolve(broken ? { ...counted, failed: counted.failed + 1 } : counted);
    });
  });
}
