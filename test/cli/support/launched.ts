/** Programs of harnesses on a home's PATH, as a launcher starts them: stand-ins that run the hooks which service init wrote. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinProfile } from '../../../src/harness/builtin.ts';
import { placeProgram, sayVersion } from '../../../src/harness/kit/fake-programs.ts';
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
    sayVersion(this.folder, '999.0.0');
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
