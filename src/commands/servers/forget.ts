import { BaseCommand, confirmFlags, required } from '../../cli/base.ts';
import { object, text } from '../../cli/shapes.ts';
import { forgetServer, tokensHeld } from './lib/servers.ts';
import { knownServer } from './lib/shapes.ts';

export const json = () => object({ server: knownServer, previous: text.nullable() });

export default class ServersForget extends BaseCommand<typeof ServersForget> {
  static override summary = 'Forget a server: its key and its seats on this machine';
  static override description =
    'Nothing is revoked on the server: the key stays valid there. Asks first when agents would lose their tokens.';
  static override examples = ['service servers forget team', 'service servers forget team --yes'];
  static override seeAlso = ['servers list', 'login'];
  static override args = { name: required('Name or address of a known server') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const held = tokensHeld(this.args.name);
    if (held.length > 0)
      await this.confirm(`Forget ${this.args.name}, and with it the tokens of ${held.join(', ')}?`, this.flags.yes);
    const { server, previous } = await forgetServer(this.args.name);
    this.print<typeof json>(
      { server, previous },
      () => `Forgot ${server.name} (${server.url}); its key still works there.`,
    );
  }
}
