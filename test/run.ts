/**
 * Runs the tests in a few processes side by side: most of the time a test waits for a socket, a disk or a database, and one
 * process would leave the other cores idle. The closing line counts them all.
 *
 *     node test/run.ts                everything
 *     node test/run.ts --fast         what is quick and needs no build
 *     node test/run.ts --sqlite       the program and its rules, for another release of Node.js
 *     node test/run.ts --short        a small part of the same
 *     node test/run.ts --record       everything, and keeps how long each file took in test/times.json
 *
 * Packages of their own (the real agent programs, generated clients) take part once they are installed.
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runJob } from './support/job.ts';
import { writeToMemory } from './support/memory.ts';
import { sharePostgres, stopPostgres } from './support/postgres.ts';
import { type Kind, type Shard, shardsOf, type Times } from './support/shards.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const sqlite = { TEST_DATABASES: 'sqlite' };
const behaviour = 'test/{rules,client,api}/**/*.test.ts';
const installed = (folder: string): boolean => existsSync(`test/${folder}/node_modules/.package-lock.json`);

/** What compares processor times runs with nothing beside it. */
const costs = 'test/rules/*-cost.heavy.test.ts';
/** Whether a test asks which database it is for; the others need not run for each. */
const asksDatabase = (file: string): boolean => /forEachDatabase|TEST_DATABASES/.test(readFileSync(file, 'utf8'));
const everything: Kind[] = [
  { name: 'rules, client and API on SQLite', files: globSync(behaviour, { exclude: [costs] }), env: sqlite },
  {
    name: 'API on Postgres',
    files: globSync('test/api/**/*.test.ts').filter(asksDatabase),
    env: { TEST_DATABASES: 'postgres' },
  },
  { name: 'command line', files: globSync('test/cli/*.test.ts') },
  { name: 'page', files: globSync('test/web/*.test.ts') },
  { name: 'daemon', files: globSync('test/daemon/**/*.test.ts') },
  { name: 'faults', files: globSync('test/faults/**/*.test.ts') },
  { name: 'generated client', files: installed('api-client') ? globSync('test/api-client/*.test.ts') : [] },
  { name: 'real agent programs', files: installed('harness') ? globSync('test/harness/*.test.ts') : [] },
];
/**
 * Heavy are files that play many stories by chance or whole tables, measure costs, wait for long, or run several processes of
 * one server.
 */
const fast: Kind[] = [
  {
    name: 'rules, client and API on SQLite',
    files: globSync(behaviour, { exclude: ['**/*.heavy.test.ts'] }),
    env: { ...sqlite, TEST_REPORTER: 'dot' },
  },
];
const onSqlite = [behaviour, 'test/cli/*.test.ts', 'test/faults/start.test.ts'];
const short = [
  'test/{rules,client}/**/*.test.ts',
  'test/api/{skeleton.test.ts,record/*.test.ts,files/stores.heavy.test.ts}',
  'test/cli/{built,first-use,fresh-starts,hook,package,readme,transcripts,verify}.test.ts',
  'test/faults/start.test.ts',
];

/**
 * Each leaves its core idle for almost half of its time, so that two cores carry four; tests that watch for timing suffer when
 * there are more.
 */
const LANES = 4;
/** Longest time of a process, so that one that hangs ends too. */
const LIMIT_MS = 1_200_000;
/** About as long should the files of one process take: each loads everything anew, which takes a second or two. */
const SHARD_SECONDS = 100;
const TIMES = 'test/times.json';
/** Most files that are run again. */
const MOST_AGAIN = 20;
/** What bin/mocha.js starts as a second process, with the option of Node.js that stands in .mocharc.json. */
const mocha = ['--disable-warning=ExperimentalWarning', 'node_modules/mocha/lib/cli/cli.js'];

const has = (word: string): boolean => process.argv.includes(word);
const whole = !['--fast', '--sqlite', '--short'].some(has);
const part = (patterns: string[]): Kind[] => [{ name: 'on SQLite', files: globSync(patterns), env: sqlite }];
const kinds = has('--fast') ? fast : has('--sqlite') ? part(onSqlite) : has('--short') ? part(short) : everything;
const lanes = has('--fast') ? 3 : LANES;

interface Titled {
  file: string;
  title: string;
}
/** What test/support/reporter.cjs writes when a process is done. */
interface Report {
  passed: number;
  failures: Titled[];
  /** What was left out. */
  pending: Titled[];
  seconds: { [file: string]: number };
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => process.exit(code));
const reports = mkdtempSync(join(tmpdir(), 'test-reports-'));
process.on('exit', () => rmSync(reports, { recursive: true, force: true }));

const times = JSON.parse(readFileSync(TIMES, 'utf8')) as Times;
const measured: Times = {};
const waiting = shardsOf(kinds, times, has('--fast') ? null : SHARD_SECONDS, lanes);
const failed: { shard: Shard; failure: Titled }[] = [];
const pending: Titled[] = [];
let passed = 0;
let started = 0;

writeToMemory();
const env: NodeJS.ProcessEnv = { ...process.env, TEST_FACTS: reports };
if (whole) env['TEST_POSTGRES'] = await sharePostgres();

await Promise.all(Array.from({ length: lanes }, lane));
if (whole) await take({ name: 'costs of texts and bodies', files: globSync(costs) });
const again = await runAgain();
if (whole) await take({ name: 'all tests together', files: globSync('test/whole/*.test.ts') });
await stopPostgres();
if (has('--record')) writeFileSync(TIMES, `${JSON.stringify({ ...times, ...measured }, null, 2)}\n`);
for (const title of again) process.stdout.write(`passed only when it ran again alone: ${title}\n`);
for (const { file, title } of pending) process.stdout.write(`not tested: ${file}: ${title}\n`);
for (const { failure } of failed) process.stdout.write(`failed: ${failure.file}: ${failure.title}\n`);
process.stdout.write(`${passed} passed, ${failed.length} failed\n`);
// Said at once: what starts the engine of Postgres ends the process with 0, whatever its exit code was set to.
process.exit(failed.length > 0 ? 1 : 0);

async function lane(): Promise<void> {
  for (let shard = waiting.shift(); shard; shard = waiting.shift()) await take(shard);
}

/** Runs the files of a shard in a process of their own and counts what it reports. */
async function take(shard: Shard): Promise<void> {
  const { passes, failures } = await run(shard);
  passed += passes;
  for (const failure of failures) failed.push({ shard, failure });
}

/**
 * Runs files with failed tests once more, with nothing beside them: a machine that is overloaded for a moment should not hide
 * what the others say. What passes then is named at the end, and is a defect of the test or of the program all the same.
 */
async function runAgain(): Promise<string[]> {
  const titles: string[] = [];
  const shards = new Map(failed.map(({ shard, failure }) => [`${shard.name} ${failure.file}`, { shard, failure }]));
  // So many are no moment of the machine, and would take long.
  if (shards.size > MOST_AGAIN) return titles;
  for (const { shard, failure } of shards.values()) {
    if (!existsSync(failure.file)) continue;
    const { failures } = await run({ ...shard, files: [failure.file] });
    const same = (one: (typeof failed)[number]): boolean => one.shard === shard && one.failure.file === failure.file;
    for (const one of failed.filter(same)) {
      if (failures.some(({ title }) => title === one.failure.title)) continue;
      failed.splice(failed.indexOf(one), 1);
      titles.push(`${one.failure.file}: ${one.failure.title}`);
      passed++;
    }
  }
  return titles;
}

/** A process that ends without its report, or not well, is a failure of its own. */
async function run({ name, files, env: settings }: Shard): Promise<{ passes: number; failures: Titled[] }> {
  const path = join(reports, `report-${++started}.json`);
  const words = [...mocha, '--exit', '--reporter', 'test/support/reporter.cjs', ...files];
  const began = performance.now();
  const { text, code } = await runJob(words, { ...env, TEST_REPORT: path, ...settings }, LIMIT_MS);
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`\n=== ${name}, ${files.length} files, ${seconds} s\n${text}`);
  const broken = { file: files.join(' '), title: `its process ended with ${code}` };
  if (!existsSync(path)) return { passes: 0, failures: [broken] };
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  measured[name] = { ...measured[name], ...report.seconds };
  pending.push(...report.pending);
  const failures = code !== 0 && report.failures.length === 0 ? [broken] : report.failures;
  return { passes: report.passed, failures };
}
