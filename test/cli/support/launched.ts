/** A launcher of a test, and programs of harnesses on a home's PATH, as a launcher starts them: stand-ins that run the hooks which service init wrote. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinProfile } from '../../../src/harness/builtin.ts';
import type { Profile } from '../../../src/harness/profile.ts';
import { placeProgram, setVersion } from '../../../tools/harness-kit/fake-programs.ts';
import { type Home, root } from './home.ts';

const settings: Record<string, string> = { 'claude-code': '.claude/settings.json', codex: '.codex/hooks.json' };

export interface Start {
  profile: string;
  /** What it was run with. */
  words: string[];
  session: string;
  resumed: string | null;
  prompt: string;
  cwd: string;
  /** Variables of ours and of harnesses. */
  env: Record<string, string>;
}

export class LaunchedPrograms {
  readonly folder: string;
  readonly #home: Home;

  /** Puts the programs of these harnesses on the home's PATH and sets the harnesses up. */
  constructor(home: Home) {
    this.#home = home;
    this.folder = join(home.dir, 'fake');
    mkdirSync(this.folder);
    setVersion(this.folder, '999.0.0');
  }

  async place(...harnesses: string[]): Promise<void> {
    for (const harness of harnesses) this.#place(harness);
    const { code, stderr } = await this.#home.run(['init', '--yes']);
    if (code !== 0) throw new Error(stderr);
  }

  #place(harness: string): void {
    const profile = builtinProfile(harness)!;
    const [kit, file] = [join(this.folder, harness), join(this.#home.dir, settings[harness]!)];
    mkdirSync(kit);
    const asked = placeProgram(kit, this.folder, profile);
    const program = join(root, 'test', 'cli', 'support', 'launched-program.mjs');
    const start = [process.execPath, program, harness, this.folder, file, join(root, 'bin', 'run.js')];
    // What is asked of it beside a session it answers as the kit's stand-in does.
    const script = `case "$1" in --version|queue|app-server) exec '${asked}' "$@";; esac\nexec ${start.map((word) => `'${word}'`).join(' ')} "$@"`;
    this.#home.program(profile.command, script);
  }

  /** What was started so far, the oldest first. */
  starts(): Start[] {
    const path = join(this.folder, 'starts.ndjson');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Start);
  }

  /** What a session went through. */
  trace(session: string): string {
    const path = join(this.folder, `trace-${session}.ndjson`);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** From now on no conversation can be taken up again. */
  forget(): void {
    writeFileSync(join(this.folder, 'forgets'), '');
  }
}

export interface Asked {
  v: number;
  op: 'info' | 'start' | 'status' | 'stop';
  agent?: string;
  argv?: string[];
  env?: Record<string, string>;
  [field: string]: unknown;
}

/** The launcher `local` on a home's PATH, which starts processes and notes what it is asked. */
export class TestLauncher {
  readonly folder: string;

  constructor(home: Home) {
    this.folder = join(home.dir, 'launcher');
    mkdirSync(this.folder);
    const script = join(root, 'test', 'cli', 'support', 'test-launcher.mjs');
    home.program('service-launcher-local', `exec '${process.execPath}' '${script}' '${this.folder}'`);
  }

  /** What it was asked so far. */
  asked(op?: Asked['op']): Asked[] {
    const path = join(this.folder, 'requests.ndjson');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Asked).filter((asked) => op === undefined || asked.op === op);
  }

  /** What it answers instead, by operation; with `hangs` it starts the agent and never answers. */
  behave(behaves: object): void {
    writeFileSync(join(this.folder, 'behaves.json'), JSON.stringify(behaves));
  }

  /** Ends the one that never answers. */
  endHanging(): void {
    process.kill(Number(readFileSync(join(this.folder, 'hanging.pid'), 'utf8')), 'SIGKILL');
  }

  /** What an agent's program printed. */
  log(agent: string): string {
    return readFileSync(join(this.folder, `${agent}.log`), 'utf8');
  }
}

/** A profile that a home's person added, of a program that is given nothing. */
export function addProfile(home: Home, harness: string, more: Partial<Profile>): void {
  const profile: Profile = {
    harness,
    name: harness,
    command: harness,
    drives: 'real',
    checks: { installed: { run: [harness, '--version'] } },
    session_env: [],
    identity: { kind: 'none' },
    subagent_identity: 'none',
    lifecycle: { liveness: 'process' },
    delivery: { capabilities: ['none'] },
    install: [],
    ...more,
  };
  const folder = home.path('config', 'harnesses');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, `${harness}.json`), JSON.stringify(profile));
}
