import * as Flags from '@oclif/core/flags';
import { optional } from '../cli/args.ts';
import { BaseCommand } from '../cli/base.ts';
import { readSecret, signIn } from '../cli/signing-in.ts';

export default class Login extends BaseCommand<typeof Login> {
  static override summary = 'Sign in to a server with a key';
  static override description =
    'Reads the key from standard input, or asks for it unseen; a key is never a flag, where others could read it. The\nkey is checked before it is saved: in the system keychain where one works, else in a file only you can read.\n"service login local" accepts this machine’s own server again after its data was replaced.';
  static override examples = [
    'service login https://team.example.com < key.txt',
    'service login https://team.example.com --store file',
    'service login local',
  ];
  static override seeAlso = ['servers list', 'whoami'];
  static override args = { url: optional('Address of the server, or local') };
  static override flags = {
    store: Flags.string({ options: ['auto', 'keychain', 'file'], description: 'Where the key is saved' }),
  };

  override async run(): Promise<void> {
    const url = this.args.url ?? this.globals.server;
    const { out, timeoutMs, verbose } = this;
    const secret = () => readSecret(out, this.globals['no-input'] === true);
    const result = await signIn({ url, store: this.flags.store, secret, out, timeoutMs, verbose });
    const { person, server, stored } = result;
    out.print(
      result.record,
      () => `Signed in to ${server} as ${person.handle} (${result.role}), key saved in ${stored}.`,
    );
  }
}
