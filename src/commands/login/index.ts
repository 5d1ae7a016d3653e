import { BaseCommand, choiceFlag, optional } from '../../cli/base.ts';
import { arrivedKey, flag, object, replacedPerson, stored, text } from '../../cli/shapes.ts';
import { signIn } from './lib/login.ts';

export const json = () =>
  object({
    server_id: text,
    person: arrivedKey.person.nullable(),
    key: arrivedKey.key.optional(),
    stored,
    previous_use: text.nullable().optional(),
    replaced: flag.optional(),
    replaced_person: replacedPerson.optional(),
    default: flag.optional(),
  });

export default class Login extends BaseCommand<typeof Login> {
  static override summary = 'Sign in to a server with a key';
  static override description =
    'Reads the key from standard input, or asks for it unseen; a key is never a flag, where others could read it. The\nkey is checked before it is saved: in the system keychain where one works, else in a file only you can read.\n"service login local" accepts this machine’s own server again after its data was replaced.';
  static override examples = [
    'service login https://team.example.com < key.txt',
    'service login https://team.example.com --store file',
    'service login https://team.example.com --move-to keychain',
    'service login local',
  ];
  static override seeAlso = ['servers list', 'whoami'];
  static override args = { url: optional('Address of the server, or local') };
  static override flags = {
    store: choiceFlag(['auto', 'keychain', 'file'], 'Where the key is saved'),
    'move-to': choiceFlag(['keychain', 'file'], 'Move the key that is here already', { exclusive: ['store'] }),
  };

  override async run(): Promise<void> {
    await this.requirePerson();
    const url = this.args.url ?? this.globals.server;
    const { 'move-to': to, store } = this.flags;
    if (to !== undefined) return this.move(url, to === 'keychain' ? 'keychain' : 'file');
    const { record, text } = await signIn({ url, store, ...this.deps });
    this.out.print(record, () => text(this.times));
  }

  private async move(url: string | undefined, to: 'keychain' | 'file'): Promise<void> {
    const { moveKey } = await import('./lib/moving-key.ts');
    const moved = await moveKey(url, to, this.out);
    this.print<typeof json>(moved.record, () => `The key for ${moved.url} is in ${moved.place} now.`);
  }
}
