/** Starting a program as a child process, and ending it in order or without warning. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serverFlags, serverVariables } from '../../src/local/server-process.ts';
import type { TeamOptions } from '../../src/server/upkeep/modes.ts';
import { isUpToDate } from '../../tools/write.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = join(root, 'src/server/entry.ts');
const starter = fileURLToPath(new URL('server-process.mjs', import.meta.url));
const silentStarter = fileURLToPath(new URL('silent-process.mjs', import.meta.url));
const bugs = new URL('bugs.mjs', import.meta.url).href;

/** What a process used so far. */
export interface Usage {
  cpuMs: number;
  rss: number;
  heapUsed: number;
  external: number;
  /** Of its database, where they are counted. */
  commits?: number;
}

/** A child that prints `{"url": …}` when it is ready. */
export class Child {
  readonly process: ChildProcess;
  /** The address it serves; rejects when it ends before it says so. */
  readonly ready: Promise<string>;
  /** Its exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  readonly #asked = new Map<number, (usage: Usage) => void>();
  #errors = '';
  #next = 1;

  /** @param before the words before the program's own, such as those that give it a disk of its own. */
  constructor(args: string[], env: NodeJS.ProcessEnv = process.env, before: string[] = []) {
    const [command, ...words] = [...before, process.execPath, ...args] as [string, ...string[]];
    this.process = spawn(command, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.exited = new Promise((resolve) => this.process.once('exit', (code) => resolve(code)));
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString()).slice(-4_000);
    });
    this.process.on('message', (answer: Usage & { id: number }) => {
      this.#asked.get(answer.id)?.(answer);
      this.#asked.delete(answer.id);
    });
    this.ready = new Promise((resolve, reject) => {
      let text = '';
      this.process.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('\n')) resolve((JSON.parse(text.split('\n')[0] as string) as { url: string }).url);
      });
      void this.exited.then((code) => reject(new Error(`ended with ${code} before it was ready:\n${this.#errors}`)));
    });
    // Whoever kills it while it starts does not ask whether it became ready.
    this.ready.catch(() => {});
  }

  /** The last lines it wrote to stderr. */
  get errors(): string {
    return this.#errors;
  }

  /** What it used; with `gc` after a collection, where it was started with --expose-gc. */
  usage(gc = false): Promise<Usage> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.process.send({ id, gc });
    });
  }

  /**
   * Puts its clock forward, or back, where it was started so that it can be.
   * @param alone whether the clock of a database on another machine stays as it is
   */
  jump(ms: number, alone = false): void {
    // It may be ending just now.
    if (this.process.connected) this.process.send({ jump: ms, alone }, () => {});
  }

  /** Resolves when it has stopped working: its CPU time no longer moves. */
  async idle(): Promise<void> {
    let before = (await this.usage()).cpuMs;
    for (let quiet = 0; quiet < 3; ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const now = (await this.usage()).cpuMs;
      quiet = now - before < 2 ? quiet + 1 : 0;
      before = now;
    }
  }

  /** Ends it without warning. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }

  /** Asks it to end; answers its exit code. */
  stop(): Promise<number | null> {
    this.process.kill('SIGTERM');
    return this.exited;
  }
}

export interface LaunchOptions {
  dataDir: string;
  /** Default: SQLite in the data folder. */
  db?: string | undefined;
  /** Default: a free port. */
  port?: number;
  /** What makes it a team's server. */
  team?: TeamOptions;
  /** Flags of Node itself. */
  nodeFlags?: string[];
  /** The words before the program's own. */
  before?: string[];
  /** Its clock can be put forward and back. */
  jumps?: boolean | undefined;
  /** Variables of the environment beside its own. */
  env?: NodeJS.ProcessEnv;
  /** What is wrong with it, by its name in bugs.mjs; it then runs from its source. */
  bug?: string | undefined;
}

/** Starts the server; wait for `ready`. */
export function launchServer(options: LaunchOptions): Child {
  if (options.bug === undefined) return launchWith(starter, options);
  return launchWith(starter, { ...options, nodeFlags: [`--import=${bugs}?${options.bug}`] }, source);
}

/**
 * Starts a server that dies before it tells other processes of its first commit on a board; wait for `ready`. It runs from its
 * source, because what listens in on the driver of the database cannot reach the one that is packed.
 */
export const launchSilent = (options: LaunchOptions): Child => launchWith(silentStarter, options, source);

function launchWith(start: string, options: LaunchOptions, module = serverModule()): Child {
  const { dataDir, db, port, team, nodeFlags = [], before, env = {}, jumps } = options;
  const files = db?.startsWith('postgres') ? 'db:' : undefined;
  const told = {
    dataDir,
    db,
    files,
    host: '127.0.0.1',
    port: port ?? 0,
    portFixed: true,
    team,
    logLevel: 'error',
    jumps,
  };
  const words = [...serverFlags, ...nodeFlags, start, module, JSON.stringify(told)];
  return new Child(words, { ...process.env, ...serverVariables, ...env }, before);
}

/** Starts a TypeScript file of the tests as a program; wait for `ready`. */
export function launchScript(file: string, args: string[], nodeFlags: string[] = []): Child {
  return new Child([...nodeFlags, file, ...args]);
}

/** The key of the person whose server this is. */
export const localKey = (dataDir: string): string => readFileSync(join(dataDir, 'local-key'), 'utf8').trim();

let chosen: string | undefined;

/**
 * The server to start: the one SERVICE_TEST_SERVER names (another build, to compare with), the packed one if it is as
 * new as its source, else the source.
 */
export function serverModule(): string {
  chosen ??= process.env['SERVICE_TEST_SERVER'] ?? compiled() ?? source;
  return chosen;
}

function compiled(): string | null {
  const file = join(root, 'dist/server.cjs');
  const note = join(root, 'dist/build.json');
  return existsSync(file) && isUpToDate(note, root, ['src/server', 'src/contract', 'migrations']) ? file : null;
}
