/** Runs the storage tools on a server's data folder. */
import { runtime } from '../../../cli/runtime.ts';
import { forAgent } from '../../../cli/session/here.ts';
import { Failure } from '../../../local/failure.ts';
import { absolute, database, failWith, loadServer } from '../../serve/lib/serve.ts';

export type Tools = typeof import('../../../server/entry.ts');

interface StorageFlags {
  data?: string | undefined;
  db?: string | undefined;
}

/** Runs one of the tools with the folder and database that are meant. @throws Failure */
export async function withStorage<T>(
  flags: StorageFlags,
  as: string | undefined,
  work: (tools: Tools, options: { dataDir: string; db?: string }) => Promise<T>,
): Promise<T> {
  const options = serverData(flags, as);
  return work(await loadServer(), options).catch(failWith);
}

/** The folder and database that are meant. @throws Failure to an agent: this is for the server's operator. */
function serverData(flags: StorageFlags, as: string | undefined): { dataDir: string; db?: string } {
  const { env, folders } = runtime();
  if (forAgent({ as }))
    throw new Failure('human_command_in_session', 'Only a person may do this, and an agent is selected here.', {
      hint: 'Ask the server’s operator to do it there',
    });
  const dataDir = flags.data ?? env.SERVICE_DATA;
  const db = database(flags.db) ?? env.SERVICE_DB;
  return { dataDir: dataDir ? absolute(dataDir) : folders.data, ...(db ? { db } : {}) };
}
