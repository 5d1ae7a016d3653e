import { BaseCommand, required, storageFlags } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import { usage } from '../../local/failure.ts';
import { requireOperator, withStorage } from '../storage/lib/storage.ts';

export const json = () => object({ handle: text, key_file: text });

export default class ServerRecoverKey extends BaseCommand<typeof ServerRecoverKey> {
  static override summary = 'Make a key for an admin who lost theirs';
  static override description =
    'For the owner of a server’s data folder, while the server is stopped. The key is written to recovery-key in that\nfolder and never shown; a file that is there already is not replaced. Nobody becomes an admin by it.';
  static override examples = ['service server recover-key ana --data /srv/service'];
  static override seeAlso = ['serve', 'login'];
  static override args = { handle: required('Handle of a present admin') };
  static override flags = storageFlags;

  /** Also in an agent's session it is refused: only a person makes keys for people. */
  override async run(): Promise<void> {
    requireOperator(this.globals.as);
    if (!this.flags.data && !runtime().env.SERVICE_DATA)
      throw usage('--data or SERVICE_DATA is missing: the folder the server was started with.');
    const named = this.args.handle.trim().replace(/^@/, '').toLowerCase();
    const { handle, key_file } = await withStorage(this.flags, this.globals.as, ({ recoverKey }, options) =>
      recoverKey({ ...options, handle: named }),
    );
    this.print<typeof json>(
      { handle, key_file },
      () => `A key for @${handle} is in ${key_file}. Start the server, then sign in.`,
    );
  }
}
