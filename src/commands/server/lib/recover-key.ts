/** A key for an admin who lost theirs, made on the machine that has the data folder. */

import { absolute, asFailure, database, loadServer } from '../../../cli/local/serve.ts';
import { runtime } from '../../../cli/runtime.ts';
import { forAgent } from '../../../cli/session/agent-here.ts';
import { Failure, usage } from '../../../local/failure.ts';

export interface RecoverFlags {
  data?: string | undefined;
  db?: string | undefined;
}

/** @throws Failure, also where an agent's session asks: whoever makes keys for people is a person. */
export async function recover(handle: string, flags: RecoverFlags, as: string | undefined) {
  const { env } = runtime();
  if (forAgent({ as }))
    throw new Failure('human_command_in_session', 'Only a person may do this, and an agent is selected here.', {
      hint: 'Ask whoever runs the server to do it there',
    });
  const data = flags.data ?? env.SERVICE_DATA;
  if (!data) throw usage('--data or SERVICE_DATA is missing: the folder the server was started with.');
  const db = database(flags.db) ?? env.SERVICE_DB;
  const { recoverKey } = await loadServer();
  const named = handle.trim().replace(/^@/, '').toLowerCase();
  const options = { dataDir: absolute(data), handle: named, ...(db ? { db } : {}) };
  return recoverKey(options).catch((error: unknown) => {
    throw asFailure(error);
  });
}
