/** Where the server's time goes: the functions with the most time of their own, and how much each package takes. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { benchDir } from './world.ts';

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

const folder = (name: string): string => join(benchDir, 'profiles', name);

/** Flags that let Node write a profile when it ends. Earlier ones of this name go. */
export function profileFlags(name: string): string[] {
  rmSync(folder(name), { recursive: true, force: true });
  return ['--cpu-prof', `--cpu-prof-dir=${folder(name)}`, '--cpu-prof-interval=200'];
}

/** Prints what the profile of this name shows. */
export function reportProfile(name: string, top = 45): void {
  const [file] = readdirSync(folder(name));
  const profile = JSON.parse(readFileSync(join(folder(name), file ?? ''), 'utf8')) as Profile;
  const self = new Map<number, number>();
  profile.samples.forEach((id, n) => {
    self.set(id, (self.get(id) ?? 0) + (profile.timeDeltas[n] ?? 0));
  });
  const functions = new Map<string, number>();
  const places = new Map<string, number>();
  let busy = 0;
  for (const { id, callFrame } of profile.nodes) {
    const time = self.get(id) ?? 0;
    if (callFrame.functionName === '(idle)' || callFrame.functionName === '(root)') continue;
    busy += time;
    const place = placeOf(callFrame.url);
    const key = `${callFrame.functionName || '(anonymous)'}  ${short(callFrame.url)}:${callFrame.lineNumber + 1}`;
    functions.set(key, (functions.get(key) ?? 0) + time);
    places.set(place, (places.get(place) ?? 0) + time);
  }
  process.stdout.write(`\nprofile of ${name}: busy ${(busy / 1e6).toFixed(2)} s\n`);
  print('by package', places, busy, 24);
  print('by function, own time', functions, busy, top);
}

function print(title: string, times: Map<string, number>, busy: number, top: number): void {
  process.stdout.write(`\n${title}\n`);
  for (const [name, time] of [...times].sort((a, b) => b[1] - a[1]).slice(0, top)) {
    process.stdout.write(`${((time / busy) * 100).toFixed(1).padStart(6)} %  ${name}\n`);
  }
}

function placeOf(url: string): string {
  const pack = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(url)?.[1];
  if (pack) return pack;
  if (url === '') return '(engine and native code)';
  if (url.startsWith('node:')) return url;
  return short(url).split('/').slice(0, 4).join('/');
}

const short = (url: string): string => url.replace(/^.*\/(?=(src|dist|migrations|node_modules)\/)/, '');
