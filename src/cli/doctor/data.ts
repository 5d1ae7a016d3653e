/** The data of the server that this machine keeps, opened to be looked into and nothing else. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { partPath } from '../../local/program.ts';
import type { Around } from './check.ts';

export type Tools = typeof import('../../server/upkeep/examine.ts');

export interface Data {
  dataDir: string;
  db?: string;
  files?: string;
}

/** What the local server would be started on; null: there is no server's data here. */
export function dataHere({ folders, env }: Around): Data | null {
  const dataDir = env.SERVICE_DATA ? resolve(env.SERVICE_DATA) : folders.data;
  if (!existsSync(join(dataDir, 'server-secret'))) return null;
  return {
    dataDir,
    ...(env.SERVICE_DB ? { db: env.SERVICE_DB } : {}),
    ...(env.SERVICE_FILES ? { files: env.SERVICE_FILES } : {}),
  };
}

/** Loaded only where there is something to look into: it brings the databases along. */
export async function tools(): Promise<Tools> {
  return (await import(pathToFileURL(partPath('server/upkeep/examine')).href)) as Tools;
}
