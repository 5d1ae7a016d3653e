/** Loaded by every test run. */
import { stopPostgres } from './postgres.ts';

export const mochaHooks = {
  async afterAll(): Promise<void> {
    await stopPostgres();
  },
};
