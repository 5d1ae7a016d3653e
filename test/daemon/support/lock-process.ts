/**
 * Takes a lock at each of many moments that several processes share, and keeps what it gets until it ends.
 *
 * <folder> <moments as JSON, milliseconds since 1970>; prints which it got, as JSON.
 */
import { join } from 'node:path';
import { type KernelLock, takeKernelLock } from '../../../src/local/kernel-lock.ts';

const [folder, moments] = process.argv.slice(2) as [string, string];
const held: (KernelLock | null)[] = [];
for (const [n, moment] of (JSON.parse(moments) as number[]).entries()) {
  // Nothing but the clock: whoever slept would wake at another moment.
  while (Date.now() < moment);
  held.push(takeKernelLock(join(folder, `${n}.lock`)));
}
process.stdout.write(`${JSON.stringify(held.map((lock) => lock !== null))}\n`);
process.stdin.once('end', () => process.exit(0)).resume();
