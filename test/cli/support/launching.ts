/** A folder with programs on a PATH of its own, for tests of what starts programs. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Place, StartRequest } from '../../../src/launch/protocol.ts';
import type { Failure } from '../../../src/local/failure.ts';

export class LaunchPlace {
  dir = '';
  env: Record<string, string> = {};

  get bin(): string {
    return join(this.dir, 'bin');
  }

  make(): void {
    this.dir = mkdtempSync(join(tmpdir(), 'board-launch-'));
    mkdirSync(this.bin);
    this.env = {
      HOME: this.dir,
      TMUX_TMPDIR: this.dir,
      PATH: `${this.bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
      // What no started program may see.
      SERVICE_TOKEN: `abh_${'x'.repeat(43)}`,
      CLAUDECODE: '1',
    };
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Puts a script of the shell, or of what its first line names, on PATH. @returns its file */
  readonly program = (name: string, script: string): string => {
    const path = join(this.bin, name);
    writeFileSync(path, script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  /** What a program wrote into the home folder. */
  readonly read = (name: string): string => readFileSync(join(this.dir, name), 'utf8');

  /** A request to start a program. */
  readonly wish = (argv: string[], more: Partial<StartRequest> = {}): StartRequest => ({
    swarm: 'demo-1a2b3c',
    agent: 'bot',
    harness: 'command',
    mode: 'headless',
    argv,
    env: { PATH: this.env['PATH']!, GIVEN: 'a "b" $c' },
    dir: this.dir,
    ...more,
  });
}

/** Call inside `describe`: the place is there during each test. */
export function launchPlace(): LaunchPlace {
  const place = new LaunchPlace();
  beforeEach(() => place.make());
  afterEach(() => place.remove());
  return place;
}

/** What was started, as it is asked after. */
export const startedAs = (handle: string): Place => ({ swarm: 'demo-1a2b3c', agent: 'bot', handle });

/** What something fails with. */
export async function failure(work: Promise<unknown>): Promise<Failure> {
  try {
    await work;
  } catch (error) {
    return error as Failure;
  }
  throw new Error('nothing failed');
}

export const codeOf = async (work: Promise<unknown>): Promise<string> => (await failure(work)).code;
