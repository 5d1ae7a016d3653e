import { z } from 'zod';
import { BaseCommand, booleanFlag, confirmFlags, optional } from '../../cli/base.ts';
import { Exit } from '../../cli/errors.ts';
import { count, failure, flag, object, text } from '../../cli/shapes.ts';
import { usage } from '../../local/failure.ts';
import { forgetOnly, leaveAll, type SignOut, signBrowsersOut, signedInElsewhere, signOut } from './lib/logout.ts';

export const json = () => {
  const signedOut = {
    server: z.strictObject({ name: text, url: text }),
    revoked: flag,
    ended_sessions: count,
    agents_ended: count,
    forgotten: flag,
  };
  return z.union([
    object(signedOut),
    object({
      ...signedOut,
      server: z.never().optional(),
      servers: z.array(
        z.union([z.strictObject(signedOut), z.strictObject({ server: z.strictObject({ url: text }), error: failure })]),
      ),
    }),
  ]);
};

export default class Logout extends BaseCommand<typeof Logout> {
  static override summary = 'Sign out of a server';
  static override description =
    'Revokes the key of this machine on the server and forgets it: everything started with it stops, browsers and agents\nincluded. Says what stops, and asks first.';
  static override examples = [
    'service logout https://team.example.com',
    'service logout --browsers',
    'service logout https://gone.example.com --keep-key',
  ];
  static override seeAlso = ['login', 'key sessions', 'servers forget'];
  static override args = { url: optional('Name or address of the server; default: the one in use') };
  static override flags = {
    browsers: booleanFlag('Sign out your browsers only, of every key', { exclusive: ['keep-key'] }),
    'keep-key': booleanFlag('Forget the key here only; nothing is sent and it works on'),
    all: booleanFlag("Every known server but this machine's own", { char: 'A' }),
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    await this.requirePerson();
    const named = this.args.url ?? this.globals.server;
    if (!this.flags.all) {
      const { record, text } = await this.leave(named);
      return this.print<typeof json>(record, () => text);
    }
    if (named !== undefined) throw usage('Give a server, or --all.', 'service logout --all');
    const { record, text, exit } = await leaveAll(signedInElsewhere(), (url) => this.leave(url));
    delete this.out.base.server;
    this.print<typeof json>(record, () => text);
    if (exit !== 0) throw new Exit(exit);
  }

  private async leave(named: string | undefined): Promise<SignOut> {
    if (this.flags['keep-key']) return forgetOnly(named, this.out);
    if (named !== undefined) this.globals.server = named;
    const session = await this.session('P');
    if (this.flags.browsers) return signBrowsersOut(session);
    return signOut(session, (question) => this.confirm(question, this.flags.yes));
  }
}
