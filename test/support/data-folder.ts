/** Starting a server on a data folder that a test has changed. */
import { writeFileSync } from 'node:fs';

/** Writes a file that only its owner may read. */
export const writePrivately = (path: string, text: string): void => writeFileSync(path, text, { mode: 0o600 });

/** Starts the server again. @returns `started`, or the name and code of its error */
export const startError = (server: { restart(): Promise<unknown> }): Promise<string> =>
  server.restart().then(
    () => 'started',
    (error: { code?: string; name: string }) => `${error.name} ${error.code}`,
  );
