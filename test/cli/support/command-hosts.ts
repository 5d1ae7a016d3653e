/** Runs commands of the built program in a few processes that live on: to start one costs more than most commands do. */
import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './root.ts';

export interface Command {
  args: string[];
  env: Record<string, string>;
  cwd: string;
  /** The file that is started. */
  program: string;
  /** What is piped in; by default its standard input is /dev/null. */
  input?: Buffer;
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

/** A command to its end. One that hangs is killed, and has no exit code. */
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
  /** A file with what is piped in. */
  readonly #input: number;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'board-host-'));
    this.#streams = ['stdout', 'stderr'].map((name) => openSync(join(folder, name), 'a+'));
    this.#input = openSync(join(folder, 'input'), 'w+');
    rmSync(folder, { recursive: true });
    const stdio = ['ignore' as const, ...this.#streams, 'ipc' as const, this.#input];
    const file = join(root, 'test', 'cli', 'support', 'command-host.mjs');
    this.#child = fork(file, { env: usual, execArgv: [], stdio });
    this.#child.unref();
    this.#child.channel!.unref();
  }

  async run({ input, ...command }: Command): Promise<{ code: number | null; left: string[] }> {
    const child = this.#child;
    ftruncateSync(this.#input);
    if (input) writeSync(this.#input, input, 0, input.length, 0);
    const late = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    child.channel?.ref();
    try {
      return await new Promise((resolve) => {
        child.once('message', resolve as (answer: unknown) => void);
        child.once('exit', (code) => resolve({ code, left: ['nothing'] }));
        child.send({ ...command, piped: input !== undefined });
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
    for (const file of [...this.#streams, this.#input]) closeSync(file);
  }
}
