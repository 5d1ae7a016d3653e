/** Opens the data of this machine's server, for reading only. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Around } from '../lib/check.ts';

interface Data {
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
