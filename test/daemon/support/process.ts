/** The daemon as a process of its own, on the files of a machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { daemonPaths } from '../../../src/daemon/paths.ts';
import { until } from '../../support/until.ts';
import type { Machine } from '../world.ts';
import { asked } from './line.ts';
import { program } from './programs.ts';

export class DaemonProcess {
  readonly child: ChildProcess;
  stderr = '';
  #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.child = child;
    this.#ended = once(child, 'exit');
    child.stderr?.on('data', (piece) => {
      this.stderr += piece;
    });
  }

  /** Starts it and waits until its socket answers. @param faults as `<point>:<kill|error|delay>[:<pass>]` */
  static async start(machine: Machine, faults = ''): Promise<DaemonProcess> {
    const started = await DaemonProcess.spawn(machine, faults);
    const { socket } = daemonPaths(machine.folders);
    for (let tries = 0; tries < 400; tries++) {
      if (started.child.exitCode !== null) throw new Error(`the daemon ended: ${started.stderr}`);
      const answered = await asked(socket, { op: 'status' }).catch(() => null);
      if (answered?.['pid'] === started.child.pid) return started;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`the daemon does not answer: ${started.stderr}`);
  }

  static async spawn(machine: Machine, faults = ''): Promise<DaemonProcess> {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: machine.home,
      SERVICE_HOME: machine.home,
      SERVICE_TEST_FAULTS: faults,
      ...machine.env,
    };
    return new DaemonProcess(
      spawn(process.execPath, [await program('faulty-daemon')], { env, stdio: ['ignore', 'ignore', 'pipe'] }),
    );
  }

  /** From now on it breaks so. @param faults as for `start` */
  async breaks(machine: Machine, faults: string): Promise<void> {
    const path = join(machine.home, 'faults');
    writeFileSync(path, faults);
    this.child.kill('SIGUSR2');
    await until(() => !existsSync(path), 'it knows how it breaks');
  }

  get gone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits for its end. @returns exit code, or null where a signal ended it */
  async ended(): Promise<number | null> {
    await this.#ended;
    return this.child.exitCode;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    if (!this.gone) this.child.kill(signal);
    return this.ended();
  }
}
