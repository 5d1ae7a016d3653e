/** Which database a data folder was last served with, so that no empty one is begun beside it. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.ts';
import type { Env } from './folders.ts';
import { writePrivate } from './private-file.ts';

const fileOf = (data: string) => join(data, 'server.engine');

/** Remembers a database that is not in the folder, without its password. */
export function rememberEngine(data: string, db: string | undefined): void {
  if (db === undefined || db.startsWith('sqlite:')) {
    rmSync(fileOf(data), { force: true });
    return;
  }
  const url = new URL(db);
  url.password = '';
  url.search = '';
  writePrivate(fileOf(data), `${url.href}\n`);
}

/** Refuses to start a server by itself where that would begin an empty database beside the one in use. */
export function requireOwnDatabase(data: string, env: Env): void {
  const engine = env.SERVICE_DB ? null : remembered(data);
  if (!env.SERVICE_DB && engine === null) return;
  const why = env.SERVICE_DB ? 'SERVICE_DB names another database than' : 'its data is in another database than';
  throw new Failure('server_not_running', `The local server does not run, and ${why} the one a start would use.`, {
    hint: env.SERVICE_DB ? 'service serve' : `service serve --db ${engine}`,
  });
}

function remembered(data: string): string | null {
  try {
    return readFileSync(fileOf(data), 'utf8').trim() || null;
  } catch {
    return null;
  }
}
