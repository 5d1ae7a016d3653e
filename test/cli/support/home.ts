/** A person's empty home folder, and the built program run in it as a child process. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { RunningServer } from '../../../src/server/serve.ts';
import { PATIENCE_MS } from '../../support/until.ts';
import { type Command, isHostable, runHosted, usual } from './command-hosts.ts';
import { serveOwn } from './own-server.ts';
import { root } from './root.ts';
import { checkShape } from './shapes.ts';

export { root };

export interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Default: /dev/null. */
  stdin?: 'pipe';
  /** As a group of processes of its own, which can be sent a signal as a terminal does. */
  group?: boolean;
}

/** Waits for a condition; fails with its name when it does not come about. */
export async function until(what: string, done: () => boolean | Promise<boolean>, ms = PATIENCE_MS): Promise<void> {
  const end = Date.now() + ms;
  // Looked for often at first, and then as if it would take longer: most looks are a command.
  for (let pause = 10; !(await done()); pause = Math.min(100, pause * 1.3)) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

export class Home {
  readonly dir = mkdtempSync(join(tmpdir(), 'board-cli-'));
  readonly work = join(this.dir, 'work');
  readonly store = join(this.dir, 'store');
  env: Record<string, string>;
  readonly #program = join(this.dir, 'bin', 'service');
  readonly #bare: boolean;
  #served: RunningServer | null = null;
  private readonly children = new Set<ChildProcess>();

  /**
   * @param bare nothing is prepared, and each command is a process of its own: for tests that are about the processes
   * @param shared what was compiled for other homes is here too
   */
  constructor({ bare = false, shared = !bare }: { bare?: boolean; shared?: boolean } = {}) {
    this.#bare = bare;
    const bin = join(this.dir, 'bin');
    mkdirSync(bin);
    mkdirSync(this.work);
    if (shared) this.#shareCompiled();
    for (const name of ['service', 'board-service']) symlinkSync(join(root, 'bin', 'run.js'), join(bin, name));
    this.env = {
      HOME: this.dir,
      PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      ...usual,
      // One folder for everything, which also gives each home a port of its own.
      SERVICE_HOME: this.store,
    };
  }

  /**
   * Runs the home's own server in this process, which the first command would otherwise start as one of its own: that takes
   * half a second of processor time. Not for tests in which a command stops the server.
   */
  async serve(): Promise<void> {
    this.#served = await serveOwn(this.path('data'));
  }

  /** `service …` to its end. Nothing is piped in: standard input is /dev/null. */
  async run(args: string[], options: RunOptions = {}): Promise<Result> {
    const result = await this.#ended(args, options);
    await checkShape(args, result);
    return result;
  }

  /** `service …` that succeeds, as its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command printed is checked field by field
  async json(args: string[], options: RunOptions = {}): Promise<any> {
    const result = await this.run([...args, '--json'], options);
    if (result.code !== 0) throw new Error(`service ${args.join(' ')}: ${result.stdout}${result.stderr}`);
    return JSON.parse(result.stdout);
  }

  /**
   * A script of the shell, in which `service` is the program. One that only calls it, pipes a text in, or has it read a file,
   * needs no process.
   */
  async shell(script: string, options: RunOptions = {}): Promise<Result> {
    const [, text, piped] = /^((?:echo|printf) [^|<>&;()`]+) \| (service .*)$/.exec(script) ?? [];
    const [, reading, file] = /^(service .*) < ([\w./-]+)$/.exec(script) ?? [];
    const words = wordsOf(piped ?? reading ?? script);
    if (words && text === undefined && file === undefined) return this.#ended(words, options);
    const command = words && this.#hostable(words, options);
    const path = resolve(options.cwd ?? this.work, file ?? '');
    if (!command || (file !== undefined && !statSync(path, { throwIfNoEntry: false })?.isFile()))
      return finished(this.startShell(script, options));
    const { env, cwd } = command;
    const input = text === undefined ? readFileSync(path) : execFileSync('/bin/sh', ['-c', text], { env, cwd });
    return runHosted({ ...command, input });
  }

  /** A script of the shell, left running. */
  startShell(script: string, options: RunOptions = {}): ChildProcess {
    return this.spawn('/bin/sh', ['-c', script], options);
  }

  /** `service …` left running. */
  start(args: string[], options: RunOptions = {}): ChildProcess {
    return this.spawn(process.execPath, [this.#program, ...args], options);
  }

  /** Where the home's files are. */
  path(...parts: string[]): string {
    return join(this.store, ...parts);
  }

  /** The process number of the server that runs for this home. */
  serverPid(): number | null {
    const file = this.path('data', 'server.pid');
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid : null;
  }

  /** A program of this name, for scripts and for what this program starts. */
  program(name: string, script: string): void {
    writeFileSync(join(this.dir, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /** Ends everything that was started and removes the folder. */
  async close(): Promise<void> {
    this.kill();
    if (!this.#served) await this.run(['server', 'stop']);
    else {
      if (existsSync(this.path('state', 'daemon.json'))) await this.run(['daemon', 'stop']);
      await this.#served.close();
    }
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** The same where no server of its own was ever started. */
  discard(): void {
    this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** What the server and the daemon of one home compiled, those of the next need not. */
  #shareCompiled(): void {
    const compiled = usual.NODE_COMPILE_CACHE;
    for (const folder of [compiled, this.path('cache')]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    symlinkSync(compiled, this.path('cache', 'compiled'));
  }

  #ended(args: string[], options: RunOptions): Promise<Result> {
    const command = this.#hostable(args, options);
    return command ? runHosted(command) : finished(this.start(args, options));
  }

  /** The command as a host runs it; null where it needs a process of its own. */
  #hostable(args: string[], { env, cwd = this.work, stdin, group }: RunOptions): Command | null {
    const command = { args, env: { ...this.env, ...env }, cwd, program: this.#program };
    return this.#bare || stdin || group || !isHostable(command) ? null : command;
  }

  private kill(): void {
    for (const child of this.children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }

  private spawn(command: string, args: string[], { env, cwd, stdin, group }: RunOptions): ChildProcess {
    const child = spawn(command, args, {
      cwd: cwd ?? this.work,
      env: { ...this.env, ...env },
      stdio: [stdin ?? 'ignore', 'pipe', 'pipe'],
      detached: group ?? false,
    });
    this.children.add(child);
    return child;
  }
}

/** The words of a line that calls the program and that a shell would only split; null for any other. */
function wordsOf(line: string): string[] | null {
  if (!/^service(?: +(?:(?!#)[\w./:@=,%+#-]+|"[^"$`\\]*"|'[^']*'))*$/.test(line)) return null;
  const words = line.matchAll(/ +(?:"([^"]*)"|'([^']*)'|(\S+))/g);
  return [...words].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

/** What a child process printed, and how it ended. */
export async function finished(child: ChildProcess): Promise<Result> {
  const printed = collect(child);
  const running = child.exitCode === null && child.signalCode === null;
  if (running || !child.stdout?.closed) await once(child, 'close');
  return { code: child.exitCode, ...printed() };
}

/** What a child process has printed so far. */
export function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (part: Buffer) => out.push(part));
  child.stderr?.on('data', (part: Buffer) => err.push(part));
  return () => ({ stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8') });
}
