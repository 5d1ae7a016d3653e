import { BaseCommand, required, stringFlag } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { forAgent } from '../../cli/session/here.ts';
import { object, text } from '../../cli/shapes.ts';
import { Failure, usage } from '../../local/failure.ts';
import { absolute, database, failWith, loadServer } from '../serve/lib/serve.ts';

export const json = () => object({ handle: text, key_file: text });

export default class ServerRecoverKey extends BaseCommand<typeof ServerRecoverKey> {
  static override summary = 'Make a key for an admin who lost theirs';
  static override description =
    'For the owner of a server’s data folder, while the server is stopped. The key is written to recovery-key in that\nfolder and never shown; a file that is there already is not replaced. Nobody becomes an admin by it.';
  static override examples = ['service server recover-key ana --data /srv/service'];
  static override seeAlso = ['serve', 'login'];
  static override args = { handle: required('Handle of a present admin') };
  static override flags = {
    data: stringFlag('DIR', 'Folder of the server’s data'),
    db: stringFlag('URL', 'Its database, where that is not in the folder'),
  };

  override async run(): Promise<void> {
    const { handle, key_file } = await recover(this.args.handle, this.flags, this.globals.as);
    this.print<typeof json>(
      { handle, key_file },
      () => `A key for @${handle} is in ${key_file}. Start the server, then sign in.`,
    );
  }
}

interface RecoverFlags {
  data?: string | undefined;
  db?: string | undefined;
}

/** @throws Failure, also in an agent's session: only a person makes keys for people. */
async function recover(handle: string, flags: RecoverFlags, as: string | undefined) {
  const { env } = runtime();
  if (forAgent({ as }))
    throw new Failure('human_command_in_session', 'Only a person may do this, and an agent is selected here.', {
      hint: 'Ask the server’s operator to do it there',
    });
  const data = flags.data ?? env.SERVICE_DATA;
  if (!data) throw usage('--data or SERVICE_DATA is missing: the folder the server was started with.');
  const db = database(flags.db) ?? env.SERVICE_DB;
  const { recoverKey } = await loadServer();
  const named = handle.trim().replace(/^@/, '').toLowerCase();
  const options = { dataDir: absolute(data), handle: named, ...(db ? { db } : {}) };
  return recoverKey(options).catch(failWith);
}
