/**
 * Measures the server against a floor: `npm run bench` all sections, `npm run bench -- posts streams` some of them,
 * `npm run bench -- --profile posts` where time and memory go, `npm run bench -- load --minutes=30` a long load,
 * `npm run bench -- grow --costs=FILE` a simulation from the costs.json of an earlier run. The table
 * is also written to .bench/bench.json, and each chart to an SVG beside it; with `--docs` to docs/bench instead, and the
 * figures that have a target to the README, and how far it goes to docs/capacity.md.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { serverModule } from '../faults/launch.ts';
import { boards } from './boards.ts';
import { barChart } from './chart.ts';
import { delivery } from './delivery.ts';
import { Engine } from './engine.ts';
import { grow } from './grow.ts';
import { hooks } from './hooks.ts';
import { load } from './load.ts';
import { longBoard } from './long-board.ts';
import { mail } from './mail.ts';
import { many } from './many.ts';
import { type Figure, verdict } from './measure.ts';
import { memory } from './memory.ts';
import { oracle } from './oracle.ts';
import { page } from './page.ts';
import { peers } from './peers.ts';
import { postgres } from './postgres.ts';
import { posts } from './posts.ts';
import { processes } from './processes.ts';
import { docsPage, isHeadline, isOfCapacity, machineWords, type Report, withFigures } from './report.ts';
import { size } from './size.ts';
import { startup } from './startup.ts';
import { crowd, streams } from './streams.ts';
import { uploads } from './uploads.ts';
import { forDocs, outputDir } from './world.ts';

const args = process.argv.slice(2);
const minutes = Number(args.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length) ?? 2);

const costs = args.find((arg) => arg.startsWith('--costs='))?.slice('--costs='.length);

const sections: Record<string, (profile: boolean) => Promise<Figure[]>> = {
  posts,
  streams,
  crowd,
  size,
  long: longBoard,
  startup,
  hooks,
  delivery,
  boards,
  oracle,
  memory,
  uploads,
  page,
  processes,
  peers,
  postgres,
  grow: () => grow(costs),
  mail,
  many,
  load: () => load(minutes),
};

const profile = args.includes('--profile');
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = names.find((name) => !Object.hasOwn(sections, name));
if (unknown !== undefined) throw new Error(`no section ${unknown}; there are: ${Object.keys(sections).join(', ')}`);
const flag = args.find((arg) => arg.startsWith('--') && !/^--(profile|docs|minutes=\d+|costs=.+)$/.test(arg));
if (flag !== undefined) throw new Error(`no flag ${flag}; there are: --profile, --docs, --minutes=N, --costs=FILE`);

const root = fileURLToPath(new URL('../..', import.meta.url));
// Functions have their names and places there.
if (profile) process.env['SERVICE_TEST_SERVER'] ??= join(root, 'src/server/entry.ts');
const report: Report = {
  at: new Date().toISOString(),
  command: ['npm run bench --', ...args].join(' '),
  machine: {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    postgres: null,
    sqlite: new Sqlite(':memory:').prepare('SELECT sqlite_version()').pluck().get() as string,
    load: loadavg()[0]!.toFixed(1),
    server: serverModule().endsWith('.ts') ? 'from source' : 'compiled',
    commit: commit(),
  },
  figures: [],
};
const { machine, figures } = report;
process.stdout.write(`${machineWords(report)}, server ${machine.server}, load average ${machine.load}\n`);
for (const name of names.length > 0 ? names : Object.keys(sections)) {
  process.stdout.write(`${name} …\n`);
  try {
    for (const figure of (await sections[name]?.(profile)) ?? []) figures.push({ section: name, ...figure });
  } catch (error) {
    // The other sections still say what they found.
    process.exitCode = 1;
    figures.push({ section: name, name: `${name}: ${(error as Error).message.slice(0, 80)}`, value: 'failed' });
  }
}
machine.postgres = Engine.version;
const width = Math.max(...figures.map((figure) => figure.name.length), 0);
for (const figure of figures)
  process.stdout.write(`${figure.name.padEnd(width)}  ${figure.value.padStart(10)}  ${verdict(figure)}\n`);
if (!profile) write();

function write(): void {
  mkdirSync(outputDir, { recursive: true });
  writeFileSync(join(outputDir, 'bench.json'), `${JSON.stringify(report, null, 2)}\n`);
  if (forDocs) {
    writeFileSync(join(outputDir, 'README.md'), docsPage(report));
    for (const [name, shown] of [
      ['README.md', isHeadline],
      ['docs/capacity.md', isOfCapacity],
    ] as const) {
      const page = join(root, name);
      writeFileSync(page, withFigures(readFileSync(page, 'utf8'), report, shown));
    }
  }
  const charts = Map.groupBy(
    figures.flatMap(({ chart }) => chart ?? []),
    ({ title }) => title,
  );
  for (const [title, bars] of charts) {
    const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    writeFileSync(join(outputDir, `${name}.svg`), barChart(title, bars, machineWords(report)));
  }
}

/** With `-dirty` where files differ from it; null outside a checkout. */
function commit(): string | null {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
    cwd: root,
    encoding: 'utf8',
  });
  return stdout?.trim() || null;
}
