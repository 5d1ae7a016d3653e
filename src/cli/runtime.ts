/** Facts about this run: package folder, program name, environment, data folders; what it has started and changed. */
import { readFileSync } from 'node:fs';
import { basename, isAbsolute, join, parse, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Env, type Folders, folders } from '../local/folders.ts';
import { setProgram } from '../local/program.ts';
import { readCatalog } from './help/catalog.ts';

export interface Runtime {
  /** The package's folder: manifest, man pages, package.json. */
  root: string;
  /** The script that was started; spawned again for the server. */
  program: string;
  /** The same, by the path that it was called by where its name is ours, so that it is called so again. */
  calledBy: string;
  /** The name the program was called by. */
  bin: string;
  env: Env;
  folders: Folders;
}

const NAMES = ['service', 'board-service'];
let current: Runtime | null = null;

/** Takes note of how the program was started. */
export function setRuntime(entryUrl: string): Runtime {
  const program = fileURLToPath(entryUrl);
  const [, path = ''] = process.argv;
  const called = basename(path).replace(/\.(js|cmd|ps1)$/, '');
  const root = join(program, '..', '..');
  setProgram({ root, fromSources: program.endsWith('dev.js') });
  current = {
    root,
    program,
    calledBy: NAMES.includes(called) ? path : program,
    // Started from a checkout, as `npm start` does, the program is on nobody's path. Its file is named then: npx would
    // look for a stranger's package of this name anywhere but in the checkout.
    bin: NAMES.includes(called) ? called : ownFile(program),
    env: process.env,
    folders: folders(),
  };
  return current;
}

function ownFile(program: string): string {
  const folder = process.cwd();
  const path = relative(folder, program);
  // A program in the background runs in the root folder, where nobody else is.
  return path.startsWith('..') || isAbsolute(path) || folder === parse(folder).root ? program : path;
}

/** The run that is under way. */
export function runtime(): Runtime {
  if (!current) throw new Error('the program was not started through its entry file');
  return current;
}

let packageVersion: string | null = null;

/** The version of this build. */
export function version(): string {
  packageVersion ??= (JSON.parse(readFileSync(join(runtime().root, 'package.json'), 'utf8')) as { version: string })
    .version;
  return packageVersion;
}

/** A join line holds the words "service board" too, and is passed on as it is. */
let command: RegExp | null = null;

/** Our own text, naming the program as it was called: `service board list` or `board-service board list`. */
export function called(text: string): string {
  const { bin, root } = current ?? { bin: 'service', root: '' };
  if (bin === 'service') return text;
  command ??= new RegExp(`(^|[\\s:(\`'"=])(?<!Join )service (?=(?:${firstWords(root).join('|')})(?![\\w-]))`, 'g');
  return text.replace(command, `$1${bin} `);
}

/** A next step of a server or of our own, naming the program so too. */
export const calledNext = <T extends { command: string; resume?: string }>(next: T): T => ({
  ...next,
  command: called(next.command),
  ...(next.resume === undefined ? {} : { resume: called(next.resume) }),
});

/** What can stand behind the program's name. */
function firstWords(root: string): string[] {
  const { commands } = readCatalog(root);
  const names = Object.values(commands).flatMap(({ id, aliases }) => [id, ...aliases]);
  return [...new Set(names.map((name) => name.split(':')[0]!))];
}

const started: ('server' | 'daemon')[] = [];

/** Notes a background program that this run started, so that its result can name it. */
export function noteAutostart(what: 'server' | 'daemon'): void {
  if (!started.includes(what)) started.push(what);
}

/** As a part of a result; nothing where nothing was started. */
export const autostarted = (): { autostarted?: string[] } => (started.length > 0 ? { autostarted: [...started] } : {});

let done = false;

/** A server or the daemon has acknowledged a change; an error of this run says so. */
export function noteDone(): void {
  done = true;
}

export const isDone = (): boolean => done;
