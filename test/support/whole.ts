/** What the processes of a test run tell of themselves, for the tests that judge the run as a whole (test/whole). */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationName } from '../../src/contract/operations.ts';

/** Operations that some test has called with success. */
export const exercised = new Set<OperationName>();

/** How many secrets were looked for in how many servers, by what they are. */
export const looked = { servers: 0, secrets: {} as Record<string, number> };

interface Facts {
  /** The databases that the process ran on, as TEST_DATABASES says. */
  databases: string;
  exercised: OperationName[];
  looked: typeof looked;
}

/** Keeps the facts of this process where the run collects them, if it does. */
export function keepFacts(): void {
  const folder = process.env['TEST_FACTS'];
  if (folder === undefined || exercised.size === 0) return;
  const facts: Facts = { databases: process.env['TEST_DATABASES'] ?? '', exercised: [...exercised], looked };
  writeFileSync(join(folder, `facts-${process.pid}.json`), JSON.stringify(facts));
}

/** The facts of all processes of this run so far. @throws where no run collects them */
export function collectedFacts(): Facts[] {
  const folder = process.env['TEST_FACTS'];
  if (folder === undefined) throw new Error('These tests judge a whole run: npm test.');
  const names = readdirSync(folder).filter((name) => name.startsWith('facts-'));
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Facts);
}
