import * as Flags from '@oclif/core/flags';
import { required, WriteCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import { duration } from '../../cli/terminal/time.ts';
import { usage } from '../../local/failure.ts';
import { newKeyText } from './lib/key-text.ts';
import { createKey } from './lib/keys.ts';

const HOUR = 3_600;
const YEAR = 365 * 86_400;

export const json = () => object({ key: answer('createKey') });

export default class KeyCreate extends WriteCommand<typeof KeyCreate> {
  static override summary = 'Make an access key for use elsewhere';
  static override description =
    'Prints it once and saves nothing here. A person or program that has it acts as you, with SERVICE_TOKEN or\nservice login, until it expires or is revoked.';
  static override examples = ['service key create ci --expires 30d', 'service key create laptop --json'];
  static override seeAlso = ['key list', 'key revoke', 'login'];
  static override args = { name: required('What the key is for: small letters, digits and single dashes') };
  static override flags = {
    expires: Flags.string({ helpValue: 'DURATION', default: '90d', description: 'How long it works, 1h to 365d' }),
  };

  override async run(): Promise<void> {
    const ttl = duration(this.flags.expires, '--expires');
    if (ttl < HOUR || ttl > YEAR) throw usage('--expires takes 1h to 365d.', 'service key create ci --expires 30d');
    const { client, server, entry } = await this.session('P');
    const body = { name: this.args.name, ttl_seconds: ttl };
    const key = await createKey(client, body, this.key);
    const handle = entry?.person?.handle ?? 'you';
    this.print<typeof json>({ key }, () => newKeyText(key, { handle, url: server.url, times: this.times }));
  }
}
