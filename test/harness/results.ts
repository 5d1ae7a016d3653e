/** What each check showed, kept for the table of the README. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Program } from './programs/program.ts';

export interface Shown {
  harness: string;
  name: string;
  version: string;
  check: string;
  result: 'pass' | 'fail';
  /** A day, UTC. */
  at: string;
}

export class Results {
  private readonly shown: Shown[] = [];

  async of({ harness, name, version }: Program, check: string, run: () => Promise<void>): Promise<void> {
    const one: Shown = { harness, name, version, check, result: 'fail', at: new Date().toISOString().slice(0, 10) };
    this.shown.push(one);
    await run();
    one.result = 'pass';
  }

  write(): void {
    writeFileSync(
      fileURLToPath(new URL('results.json', import.meta.url)),
      `${JSON.stringify(this.shown, undefined, 2)}\n`,
    );
  }
}
