/** The daemon of the kit's machine: what it says of itself, its sudden end, and its test build in its place. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { ask, daemonStatus } from '../../src/daemon/control/ask.ts';
import { openConnection } from '../../src/daemon/control/connection.ts';
import { isAbsent } from '../../src/daemon/control/errors.ts';
import { daemonPaths } from '../../src/daemon/paths.ts';
import type { StatusAnswer } from '../../src/daemon/protocol.ts';
import { KitFailure } from './driver.ts';
import { SocketTap } from './socket-tap.ts';

interface KitDaemonOptions {
  state: string;
  env: NodeJS.ProcessEnv;
  /** Runtime and entry file of our program. */
  program: string[];
  /** Where it finds the server. */
  address(): string;
}

/** On a busy machine hooks are faster again and again. */
const MOST_STARTS = 20;

export class KitDaemon {
  private readonly options: KitDaemonOptions;
  private child: ChildProcess | null = null;
  private tap: SocketTap | null = null;
  /** Everything that was said on the sockets that were listened in on. */
  readonly frames: string[] = [];

  constructor(options: KitDaemonOptions) {
    this.options = options;
  }

  /** Null while none runs. */
  status(): Promise<StatusAnswer | null> {
    return daemonStatus(this.options.state).catch(() => null);
  }

  /** One of its sessions; its key ends with this id. */
  async session(id: string): Promise<NonNullable<StatusAnswer['sessions']>[number] | null> {
    return (await this.status())?.sessions?.find(({ key }) => key.endsWith(`:${id}`)) ?? null;
  }

  /** Messages of a session's seats that nobody has received, as far as it has read. */
  async unread(harness: string, session: string): Promise<number> {
    const connection = await openConnection(daemonPaths(this.options).socket);
    try {
      const { seats = [] } = await ask(connection, 'agents', { harness, session });
      return seats.reduce((sum, { unread = 0 }) => sum + unread, 0);
    } finally {
      connection.close();
    }
  }

  /** Ends whichever runs, as a crash does. */
  async kill(): Promise<void> {
    const pid = await this.running();
    this.untap();
    if (pid === null) return;
    process.kill(pid, 'SIGKILL');
    await untilGone(pid);
  }

  /** Which one runs; one that is too busy to answer runs too. */
  private async running(): Promise<number | null> {
    for (let tries = 0; ; tries++) {
      try {
        return (await daemonStatus(this.options.state)).pid;
      } catch (error) {
        if (isAbsent(error)) return null;
        if (tries === 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  /**
   * Starts its test build in place of the one that runs. A hook that missed the daemon may start one at the same moment.
   *
   * @param faults as `<point>:<kill|error|delay>`
   */
  async start({ faults = '', tapped = false }: { faults?: string; tapped?: boolean } = {}): Promise<void> {
    for (let tries = 0; tries < MOST_STARTS; tries++) {
      await this.kill();
      const child = this.spawned(faults);
      this.child = child;
      for (let looks = 0; looks < 1_000 && child.exitCode === null; looks++) {
        const pid = (await this.status())?.pid;
        if (pid === child.pid && tapped) this.tap = await SocketTap.on(daemonPaths(this.options).socket);
        if (pid === child.pid) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      // Somebody who missed it was faster.
      child.kill('SIGKILL');
    }
    throw new KitFailure('the test build of the daemon did not start');
  }

  /** Whether what `start` started has ended. */
  get gone(): boolean {
    const { child } = this;
    return child !== null && (child.exitCode !== null || child.signalCode !== null);
  }

  async close(): Promise<void> {
    this.untap();
    await this.kill();
  }

  private untap(): void {
    this.frames.push(...(this.tap?.frames ?? []));
    this.tap?.close();
    this.tap = null;
  }

  private spawned(faults: string): ChildProcess {
    const { program, env, address } = this.options;
    const [runtime, ...words] = program;
    const entry = words.pop()!;
    const root = join(entry, '..', '..');
    const script = entry.endsWith('dev.js')
      ? join(root, 'tools', 'harness-kit', 'faulty-daemon.ts')
      : join(root, 'dist', 'faulty-daemon.mjs');
    const more = { SERVICE_LOCAL_ADDR: address(), SERVICE_TEST_FAULTS: faults };
    return spawn(runtime!, [...words, script], { env: { ...env, ...more }, cwd: '/', stdio: 'ignore' });
  }
}

async function untilGone(pid: number): Promise<void> {
  for (let looks = 0; looks < 1_000; looks++) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new KitFailure(`the daemon ${pid} did not end`);
}
