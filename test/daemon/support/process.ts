/** The daemon as a process of its own, on the files of a machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { daemonPaths } from '../../../src/daemon/paths.ts';
import { until } from '../../support/until.ts';
import type { Machine } from '../world.ts';
import { asked } from './line.ts';
import { program } from './programs.ts';

const built = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

function launched(machine: Machine, words: string[], more: Record<string, string> = {}): ChildProcess {
  const own = { PATH: process.env['PATH'] ?? '', HOME: machine.home, SERVICE_HOME: machine.home };
  const env = { ...own, ...more, ...machine.env };
  return spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
}

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
    return DaemonProcess.#answering(machine, await DaemonProcess.spawn(machine, faults));
  }

  /** The same with the built program, as its user runs it. */
  static startBuilt(machine: Machine): Promise<DaemonProcess> {
    return DaemonProcess.#answering(machine, new DaemonProcess(launched(machine, [built, 'daemon', 'run'])));
  }

  static async #answering(machine: Machine, started: DaemonProcess): Promise<DaemonProcess> {
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
    return new DaemonProcess(launched(machine, [await program('faulty-daemon')], { SERVICE_TEST_FAULTS: faults }));
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
