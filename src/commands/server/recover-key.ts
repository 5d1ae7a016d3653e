import * as Flags from '@oclif/core/flags';
import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { recover } from './lib/recover-key.ts';

export default class ServerRecoverKey extends BaseCommand<typeof ServerRecoverKey> {
  static override summary = 'Make a key for an admin who lost theirs';
  static override description =
    'For whoever has the data folder of a server, while the server is stopped. The key is written to recovery-key in that\nfolder and never shown; a file that is there already is not replaced. Nobody becomes an admin by it.';
  static override examples = ['service server recover-key ana --data /srv/service'];
  static override seeAlso = ['serve', 'login'];
  static override args = { handle: required('Handle of a present admin') };
  static override flags = {
    data: Flags.string({ helpValue: 'DIR', description: 'Folder of the server’s data' }),
    db: Flags.string({ helpValue: 'URL', description: 'Its database, where that is not in the folder' }),
  };

  override async run(): Promise<void> {
    const { handle, key_file } = await recover(this.args.handle, this.flags, this.globals.as);
    this.out.print(
      { handle, key_file },
      () => `A key for @${handle} is in ${key_file}. Start the server, then sign in.`,
    );
  }
}
