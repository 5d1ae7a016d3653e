import * as Flags from '@oclif/core/flags';
import { required, secretFlags, WriteCommand } from '../../cli/base.ts';
import { lost } from '../../cli/errors.ts';
import { called } from '../../cli/runtime.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { duration, showEnd, type TimeStyle } from '../../cli/terminal/time.ts';
import type { Answer } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';

const HOUR = 3_600;
const YEAR = 365 * 86_400;

export const json = () => object({ key: answer('createKey') });

export default class KeyCreate extends WriteCommand<typeof KeyCreate> {
  static override summary = 'Make an access key for use elsewhere';
  static override description =
    'Prints it once, with --quiet alone, and saves nothing here. A person or program that has it acts as you, with SERVICE_TOKEN or\nservice login, until it expires or is revoked.';
  static override examples = ['service key create ci --expires 30d', 'service key create laptop --json'];
  static override seeAlso = ['key list', 'key revoke', 'login'];
  static override args = { name: required('What the key is for: small letters, digits and single dashes') };
  static override flags = {
    ...secretFlags,
    expires: Flags.string({ helpValue: 'DURATION', default: '90d', description: 'How long it works, 1h to 365d' }),
  };

  override async run(): Promise<void> {
    const ttl = duration(this.flags.expires, '--expires');
    if (ttl < HOUR || ttl > YEAR)
      throw usage('--expires takes 1h to 365d.', `service key create ${this.args.name} --expires 30d`);
    const session = await this.session('P');
    const { client, server, entry } = session;
    const body = { name: this.args.name, ttl_seconds: ttl };
    const stay = stayingAt(session);
    const { data: key } = await client
      .call('createKey', { body, idempotencyKey: this.key })
      .catch(
        lost(
          `See whether it is there: service key list${stay}. Revoke it with: service key revoke ${body.name}${stay}`,
        ),
      );
    const handle = entry?.person?.handle ?? 'you';
    const text = () => newKeyText(key, { handle, url: server.url, times: this.times, stay });
    this.print<typeof json>({ key }, text, key.token);
  }
}

/** What a new key is, the secret on a line of its own, and how to end it. */
const newKeyText = (
  key: Answer<'createKey'>,
  { handle, url, times, stay }: { handle: string; url: string; times: TimeStyle; stay: string },
): string =>
  [
    `Key ${key.name} acts as ${handle} on ${url} for everyone who has it; it expires ${showEnd(key.expires_at ?? '', times)}. Shown only now:`,
    key.token,
    called(`Revoke it with: service key revoke ${key.name}${stay}`),
  ].join('\n');
