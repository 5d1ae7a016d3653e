/**
 * Runs every test in a few processes side by side: most of the time a test waits for a socket, a disk or a database, and
 * one process would leave the other cores idle. What each printed is shown as one piece when it is done; the closing line
 * counts them all. The tests in the real agent programs and those of generated clients, which are packages of their own, take part once
 * these are installed. With `--fast` it runs what is quick and needs no build.
 */
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runJob } from './support/job.ts';

interface Job {
  name: string;
  files: string[];
  env?: Record<string, string>;
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const behaviour = 'test/{rules,client,api}/**/*.test.ts';

/** The longest first, so that none is left alone at the end. */
const jobs: Job[] = [
  { name: 'API on Postgres', files: ['test/api/**/*.test.ts'], env: { TEST_DATABASES: 'postgres' } },
  { name: 'command line, d to g', files: ['test/cli/[d-g]*.test.ts'] },
  { name: 'command line, s to y', files: ['test/cli/[s-y]*.test.ts'] },
  { name: 'command line, a to c', files: ['test/cli/[a-c]*.test.ts'] },
  {
    name: 'rules, client, API on SQLite',
    files: [behaviour],
    env: { TEST_DATABASES: 'sqlite' },
  },
  { name: 'command line, h to l', files: ['test/cli/[h-l]*.test.ts'] },
  { name: 'faults', files: ['test/faults/**/*.test.ts'] },
  { name: 'examples of the command line', files: ['test/cli/z*.test.ts'] },
  { name: 'command line, m to r', files: ['test/cli/[m-r]*.test.ts'] },
  { name: 'daemon', files: ['test/daemon/**/*.test.ts'] },
];
/** Whether the packages of a folder of tests are there: this file npm writes last. */
const installed = (folder: string): boolean =>
  existsSync(new URL(`${folder}/node_modules/.package-lock.json`, import.meta.url));
// They take two minutes, most of which they wait: not the last ones, when nothing else is left to do.
if (installed('harness')) jobs.splice(2, 0, { name: 'real agent programs', files: ['test/harness/*.test.ts'] });
if (installed('api-client')) jobs.push({ name: 'generated client', files: ['test/api-client/*.test.ts'] });

/**
 * All of `behaviour` but the files named `*.heavy.test.ts`, in two halves: those play many stories or requests by chance, a whole
 * table of who may do what, measure what something costs, or run several processes of one server.
 */
const light = globSync(behaviour, { exclude: ['**/*.heavy.test.ts'] }).sort();
const halves: Job[] = [0, 1].map((half) => ({
  name: `rules, client, API on SQLite, half ${half + 1} without the heavy ones`,
  files: light.filter((_, n) => n % 2 === half),
  env: { TEST_DATABASES: 'sqlite', TEST_REPORTER: 'dot' },
}));

interface Result {
  passed: number;
  failed: number;
}

/**
 * Each leaves its core idle for a third of its time, so that two cores carry three; tests that watch for timing suffer when
 * there are more.
 */
const lanes = 3;
/** Longest time of a job, so that one that hangs ends too; on a busy machine some take a quarter of an hour. */
const limitMs = 1_800_000;
const mocha = fileURLToPath(new URL('../node_modules/mocha/bin/mocha.js', import.meta.url));
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => process.exit(code));
const waiting = process.argv.includes('--fast') ? halves : jobs;
const results: Result[] = [];

await Promise.all(Array.from({ length: lanes }, lane));
const total = results.reduce((sum, one) => ({ passed: sum.passed + one.passed, failed: sum.failed + one.failed }));
process.exitCode = total.failed > 0 ? 1 : 0;
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);

async function lane(): Promise<void> {
  for (let job = waiting.shift(); job; job = waiting.shift()) results.push(await run(job));
}

/** A process that ends without its counts, or not well, is a failure of its own. */
async function run({ name, files, env }: Job): Promise<Result> {
  const words = [mocha, '--exit', '--reporter', 'test/support/reporter.cjs', ...files];
  const { text, code } = await runJob(words, { ...process.env, ...env }, limitMs);
  process.stdout.write(`\n=== ${name}\n${text}`);
  const [, passed, failed] = /(\d+) passed, (\d+) failed[^\n]*\n*$/.exec(text) ?? [];
  const counted = { passed: Number(passed ?? 0), failed: Number(failed ?? 0) };
  const broken = passed === undefined || (code !== 0 && counted.failed === 0);
  return broken ? { ...counted, failed: counted.failed + 1 } : counted;
}
