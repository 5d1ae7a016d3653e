/** The database that a data folder belongs to, as the server recorded it, so that no empty one is created beside it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import type { Env } from '../folders.ts';

/** Refuses an automatic start that would create an empty database beside the one in use. */
export function requireOwnDatabase(data: string, env: Env): void {
  const engine = env.SERVICE_DB ? null : elsewhere(data);
  if (!env.SERVICE_DB && engine === null) return;
  const why = env.SERVICE_DB ? 'SERVICE_DB names another database than' : 'its data is in another database than';
  throw new Failure('server_not_running', `The local server does not run, and ${why} the one a start would use.`, {
    hint: env.SERVICE_DB ? 'service serve' : `service serve --db ${engine}`,
  });
}

/** The external database without its password; null if the folder holds its own. */
function elsewhere(data: string): string | null {
  try {
    const noted = readFileSync(join(data, 'storage'), 'utf8').trim();
    return noted === '' || noted === 'embedded' ? null : noted;
  } catch {
    return null;
  }
}
