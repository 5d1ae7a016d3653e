/** Runs the storage tools on a server's data folder. */
import { runtime } from '../../../cli/runtime.ts';
import { forAgent } from '../../../cli/session/here.ts';
import { Failure } from '../../../local/failure.ts';
import { absolute, database, failWith, loadServer } from '../../serve/lib/serve.ts';

export type Tools = typeof import('../../../server/entry.ts');

/** Runs one of the tools with the folder and database that are meant. @throws Failure */
export async function withStorage<T>(
  flags: { data?: string | undefined; db?: string | undefined },
  as: string | undefined,
  work: (tools: Tools, options: { dataDir: string; db?: string }) => Promise<T>,
): Promise<T> {
  const { env, folders } = runtime();
  requireOperator(as);
  const dataDir = flags.data ?? env.SERVICE_DATA;
  const db = await database(flags.db, env);
  const options = { dataDir: dataDir ? absolute(dataDir) : folders.data, ...(db ? { db } : {}) };
  return work(await loadServer(), options).catch(failWith);
}

/** @throws Failure to an agent: this is for the server's operator. */
export function requireOperator(as: string | undefined): void {
  if (!forAgent({ as })) return;
  throw new Failure('human_command_in_session', 'Only a person may do this, and an agent is selected here.', {
    hint: 'Ask the server’s operator to do it there',
  });
}
