/** Where the server's time and memory go: the functions with the most of their own, and how much time each package takes. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchDir, outputDir } from './world.ts';

interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
}

interface Profile {
  nodes: { id: number; callFrame: Frame }[];
  samples: number[];
  timeDeltas: number[];
}

interface Allocated {
  callFrame: Frame;
  selfSize: number;
  children: Allocated[];
}

const folder = (name: string): string => join(benchDir, 'profiles', name);

/** Flags that let Node write profiles when it ends. Earlier ones of this name go. */
export function profileFlags(name: string): string[] {
  rmSync(folder(name), { recursive: true, force: true });
  const allocations = new URL(`allocations.mjs?folder=${encodeURIComponent(folder(name))}`, import.meta.url).href;
  return ['--cpu-prof', `--cpu-prof-dir=${folder(name)}`, '--cpu-prof-interval=200', '--import', allocations];
}

/** Prints what the profiles of this name show, and writes the largest costs as a page. */
export function reportProfile(name: string, top = 45): void {
  const files = readdirSync(folder(name));
  const file = files.find((one) => one.endsWith('.cpuprofile')) ?? '';
  const read = (one: string): unknown => JSON.parse(readFileSync(join(folder(name), one), 'utf8'));
  const time = timesOf(read(file) as Profile);
  const memory = new Costs();
  addAllocations(memory, (read('allocations.json') as { head: Allocated }).head);
  process.stdout.write(`\nprofile of ${name}: busy ${(time.sum / 1e6).toFixed(2)} s\n`);
  print('time by package', time.places, time.sum, 24);
  print('time by function, its own', time.functions, time.sum, top);
  print('allocations by function, its own', memory.functions, memory.sum, top);
  mkdirSync(outputDir, { recursive: true });
  const page = [
    `# What \`${name}\` costs the server\n`,
    `\`npm run bench -- ${name} --profile --docs\` on ${new Date().toISOString().slice(0, 10)}, from source, start and warm-up included.\n`,
    ...largest('own time', time),
    ...largest('bytes allocated', memory),
  ];
  writeFileSync(join(outputDir, `profile-${name}.md`), page.join('\n'));
}

/** Costs by function, and by package or folder. */
class Costs {
  readonly functions = new Map<string, number>();
  readonly places = new Map<string, number>();
  sum = 0;

  add({ functionName, url, lineNumber }: Frame, cost: number): void {
    if (cost === 0 || functionName === '(idle)' || functionName === '(root)') return;
    const key = `${functionName || '(anonymous)'}  ${short(url)}:${lineNumber + 1}`;
    this.sum += cost;
    this.functions.set(key, (this.functions.get(key) ?? 0) + cost);
    this.places.set(placeOf(url), (this.places.get(placeOf(url)) ?? 0) + cost);
  }
}

function timesOf({ nodes, samples, timeDeltas }: Profile): Costs {
  const self = new Map<number, number>();
  samples.forEach((id, n) => {
    self.set(id, (self.get(id) ?? 0) + (timeDeltas[n] ?? 0));
  });
  const costs = new Costs();
  for (const { id, callFrame } of nodes) costs.add(callFrame, self.get(id) ?? 0);
  return costs;
}

function addAllocations(costs: Costs, { callFrame, selfSize, children }: Allocated): void {
  costs.add(callFrame, selfSize);
  for (const child of children) addAllocations(costs, child);
}

const sorted = (costs: Map<string, number>, top: number) => [...costs].sort((a, b) => b[1] - a[1]).slice(0, top);

function print(title: string, costs: Map<string, number>, sum: number, top: number): void {
  process.stdout.write(`\n${title}\n`);
  for (const [name, cost] of sorted(costs, top))
    process.stdout.write(`${((cost / sum) * 100).toFixed(1).padStart(6)} %  ${name}\n`);
}

const largest = (what: string, { functions, sum }: Costs): string[] => [
  `| The ten largest, by ${what} | Share |`,
  '|---|---|',
  ...sorted(functions, 10).map(([name, cost]) => {
    const [fn, place] = name.split('  ') as [string, string];
    return `| \`${fn}\`${place.startsWith(':') ? '' : ` ${place}`} | ${((cost / sum) * 100).toFixed(1)} % |`;
  }),
  '',
];

function placeOf(url: string): string {
  const pack = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(url)?.[1];
  if (pack) return pack;
  if (url === '') return '(engine and native code)';
  if (url.startsWith('node:')) return url;
  return short(url).split('/').slice(0, 4).join('/');
}

const short = (url: string): string => url.replace(/^.*\/(?=(src|dist|migrations|node_modules)\/)/, '');
