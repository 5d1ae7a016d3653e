/** A small disk of its own for one process: what is full or read-only there is so for nobody else. Linux has what it takes. */
import { spawnSync } from 'node:child_process';

export class SmallDisk {
  readonly #folder: string;
  #pid = 0;

  /** @param folder an empty one, which the process sees as the root of the disk. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What to put before a program's own words, so that it runs with the disk. @param size such as `8m`. */
  words(size: string): string[] {
    const mount = `mount -t tmpfs -o size=${size},mode=0700 tmpfs "$1" && shift && exec "$@"`;
    return ['unshare', '-rm', 'sh', '-c', mount, 'sh', this.#folder];
  }

  /** The process that has it. */
  heldBy(pid: number | undefined): void {
    this.#pid = pid ?? 0;
  }

  /** A path as that process sees it, for everybody else. */
  seen(path: string): string {
    return `/proc/${this.#pid}/root${path}`;
  }

  /** Changes what the disk is, such as `ro`, `rw` or `size=64m`. */
  remount(options: string): void {
    const enter = ['-t', String(this.#pid), '-U', '-m', '--preserve-credentials'];
    const words = [...enter, 'mount', '-o', `remount,${options}`, this.#folder];
    const { status, stderr } = spawnSync('nsenter', words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`the disk could not be made ${options}: ${stderr}`);
  }
}
