/** Loaded by every test run. */
import { writeToMemory } from './memory.ts';
import { stopPostgres } from './postgres.ts';
import { keepFacts } from './whole.ts';

// The sandboxes of real agent programs have a /dev of their own.
if (!process.argv.some((word) => word.includes('test/harness'))) writeToMemory();

export const mochaHooks = {
  async afterAll(): Promise<void> {
    keepFacts();
    await stopPostgres();
  },
};
