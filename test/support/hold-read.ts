/** Lets a test decide when a read of the server goes on. */
import type { Allowed, ReadTx } from '../../src/server/db/tx.ts';
import type { TestServer } from './server.ts';

/**
 * Holds the next read that a source file of this name asks for: before its snapshot is taken, or what it found. The server reads
 * as before once its `db` has no `read` of its own any more.
 */
export function holdNextRead(
  { db }: TestServer,
  file: string,
  when: 'before' | 'after',
): { begun: Promise<void>; goOn(): void } {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const plain = db.read;
  const wait = (): Promise<void> => {
    begun.resolve();
    return held.promise;
  };
  let done = false;
  db.read = async <T>(fn: (tx: ReadTx) => Promise<T>, allows?: Allowed): Promise<T> => {
    const holds = !done && new Error().stack?.includes(file);
    if (holds) done = true;
    if (holds && when === 'before') await wait();
    const found = (await plain.call(db, fn, allows)) as T;
    if (holds && when === 'after') await wait();
    return found;
  };
  return { begun: begun.promise, goOn: held.resolve };
}
