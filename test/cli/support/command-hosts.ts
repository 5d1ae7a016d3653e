/** Runs commands of the built program in a few processes that live on: to start one costs more than most commands do. */
import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './root.ts';

export interface Command {
  args: string[];
  env: Record<string, string>;
  cwd: string;
  /** The file that is started. */
  program: string;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What Node.js reads once, when a process starts, as the homes of tests have it. */
export const usual = { LANG: 'C.UTF-8', NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE']! };
const readAtStart = /^(NODE_|LC_|LANG|TZ$|SSL_|OPENSSL_|UV_)/;

/** Commands that stay, or start programs of agents on their own streams. */
const alone = /^(serve|hook|run|daemon ( *|run|-.*)|storage \S+|harness (test|fake)|server recover-key)$/;
/** Longer takes none that waits for nobody. */
const LIMIT_MS = 120_000;

const idle: Host[] = [];

/** Whether nothing about the command needs a process of its own. */
export function isHostable({ args: [noun = '', verb = ''], env }: Command): boolean {
  const read = Object.entries(env).filter(([name]) => readAtStart.test(name));
  return (
    JSON.stringify(read.sort()) === JSON.stringify(Object.entries(usual)) &&
    !alone.test(noun) &&
    !alone.test(`${noun} ${verb}`)
  );
}

/** A command to its end, with /dev/null as its standard input. One that hangs is killed, and has no exit code. */
export async function runHosted(command: Command): Promise<Ended> {
  const host = idle.pop() ?? new Host();
  const { code, left } = await host.run(command);
  const [stdout, stderr] = host.printed();
  if (left.length === 0) idle.push(host);
  else host.close();
  return { code, stdout: stdout!, stderr: stderr! };
}

class Host {
  readonly #child: ChildProcess;
  /** Files, which are complete when a command ends, and which what it starts may write to as well. */
  readonly #streams: number[];

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'board-host-'));
    this.#streams = ['stdout', 'stderr'].map((name) => openSync(join(folder, name), 'a+'));
    rmSync(folder, { recursive: true });
    const stdio = ['ignore' as const, ...this.#streams, 'ipc' as const];
    const file = join(root, 'test', 'cli', 'support', 'command-host.mjs');
    this.#child = fork(file, { env: usual, execArgv: [], stdio });
    this.#child.unref();
    this.#child.channel!.unref();
  }

  async run(command: Command): Promise<{ code: number | null; left: string[] }> {
    const child = this.#child;
    const late = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    child.channel?.ref();
    try {
      return await new Promise((resolve) => {
        child.once('message', resolve as (answer: unknown) => void);
        child.once('exit', (code) => resolve({ code, left: ['nothing'] }));
        child.send(command);
      });
    } finally {
      clearTimeout(late);
      child.removeAllListeners();
      child.channel?.unref();
    }
  }

  /** What was written since the last call. */
  printed(): string[] {
    return this.#streams.map((stream) => {
      const bytes = Buffer.alloc(fstatSync(stream).size);
      readSync(stream, bytes, 0, bytes.length, 0);
      ftruncateSync(stream);
      return bytes.toString('utf8');
    });
  }

  /** It ends when nobody talks to it any more. */
  close(): void {
    if (this.#child.connected) this.#child.disconnect();
    for (const stream of this.#streams) closeSync(stream);
  }
}
