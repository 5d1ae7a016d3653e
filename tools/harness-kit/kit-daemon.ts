/** Controls the daemon in the kit's environment: asks for its status, kills it, starts its test build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { ask, daemonStatus } from '../../src/daemon/control/ask.ts';
import { openConnection } from '../../src/daemon/control/connection.ts';
import { isAbsent } from '../../src/daemon/control/errors.ts';
import { daemonPaths } from '../../src/daemon/paths.ts';
import type { StatusAnswer } from '../../src/daemon/protocol.ts';
import { alive, until } from '../../src/local/process.ts';
import { KitFailure } from './driver.ts';
import { SocketTap } from './socket-tap.ts';

interface KitDaemonOptions {
  state: string;
  env: NodeJS.ProcessEnv;
  /** Runtime and entry file of our program. */
  program: string[];
  /** The server's address. */
  address(): string;
}

/** Hooks may start the normal daemon first, which happens often on a busy machine. */
const MAX_STARTS = 20;

export class KitDaemon {
  private readonly options: KitDaemonOptions;
  private child: ChildProcess | null = null;
  private tap: SocketTap | null = null;
  /** The traffic recorded on the control socket. */
  readonly frames: string[] = [];

  constructor(options: KitDaemonOptions) {
    this.options = options;
  }

  /** Null if no daemon answers. */
  status(): Promise<StatusAnswer | null> {
    return daemonStatus(this.options.state).catch(() => null);
  }

  /** The state of a session. */
  async session(id: string): Promise<NonNullable<StatusAnswer['sessions']>[number] | null> {
    return (await this.status())?.sessions?.find(({ key }) => key.endsWith(`:${id}`)) ?? null;
  }

  /** Number of messages in its last reads that a session's seats have not received. */
  async unread(harness: string, session: string): Promise<number> {
    const connection = await openConnection(daemonPaths(this.options).socket);
    try {
      const { seats = [] } = await ask(connection, 'agents', { harness, session });
      return seats.reduce((sum, { unread = 0 }) => sum + unread, 0);
    } finally {
      connection.close();
    }
  }

  /** Kills the running daemon. */
  async kill(): Promise<void> {
    const pid = await this.runningPid();
    this.untap();
    if (pid === null) return;
    process.kill(pid, 'SIGKILL');
    if (!(await until(() => !alive(pid), 10_000, 5))) throw new KitFailure(`the daemon ${pid} did not end`);
  }

  /** The running daemon's process id; asks again if it is too busy to answer. */
  private async runningPid(): Promise<number | null> {
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
   * Replaces the running daemon by the test build. A hook that finds no daemon may start one at the same time.
   *
   * @param faults as `<point>:<kill|error|delay>`
   */
  async start({ faults = '', tapped = false }: { faults?: string; tapped?: boolean } = {}): Promise<void> {
    for (let tries = 0; tries < MAX_STARTS; tries++) {
      await this.kill();
      const child = this.spawn(faults);
      this.child = child;
      for (let waits = 0; waits < 1_000 && child.exitCode === null; waits++) {
        const pid = (await this.status())?.pid;
        if (pid === child.pid && tapped) this.tap = await SocketTap.on(daemonPaths(this.options).socket);
        if (pid === child.pid) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      // A hook was faster.
      child.kill('SIGKILL');
    }
    throw new KitFailure('the test build of the daemon did not start');
  }

  /** Whether the daemon that `start` started has ended. */
  get ended(): boolean {
    const { child } = this;
    return child !== null && (child.exitCode !== null || child.signalCode !== null);
  }

  private untap(): void {
    this.frames.push(...(this.tap?.frames ?? []));
    this.tap?.close();
    this.tap = null;
  }

  private spawn(faults: string): ChildProcess {
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
