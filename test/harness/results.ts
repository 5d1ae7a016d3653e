/** What each check showed, kept for the table of the README. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Shown, writeTable } from '../support/harness-table.ts';
import type { Program } from './programs/program.ts';

export class Results {
  private readonly shown: Shown[] = [];

  async of({ harness, name, version }: Program, check: string, run: () => Promise<void>): Promise<void> {
    const one: Shown = { harness, name, version, check, result: 'fail', at: new Date().toISOString().slice(0, 10) };
    this.shown.push(one);
    await run();
    one.result = 'pass';
  }

  /** Keeps them, where a run is meant to say so: `HARNESS_RECORD=1`. */
  write(): void {
    if (process.env['HARNESS_RECORD'] !== '1') return;
    const file = fileURLToPath(new URL('results.json', import.meta.url));
    const others = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Shown[]) : [];
    const all = [...others.filter((one) => !this.shown.some((newer) => replaces(newer, one))), ...this.shown];
    all.sort((one, two) => one.harness.localeCompare(two.harness));
    writeFileSync(file, `${JSON.stringify(all, undefined, 2)}\n`);
    writeTable(all);
  }
}

/** What another version of a program showed is not said of this one. */
const replaces = (newer: Shown, one: Shown): boolean =>
  newer.harness === one.harness && (newer.check === one.check || newer.version !== one.version);
