import { BaseCommand, booleanFlag, optional, stringFlag } from '../../cli/base.ts';
import { EXIT, Exit } from '../../cli/errors.ts';
import { requireWhole, sessionHere } from '../../cli/session/here.ts';
import { serverOfPerson } from '../../cli/session/open-session.ts';
import type { Deps } from '../key/lib/pending-keys.ts';
import { setup } from './lib/shapes.ts';
import { stepLines } from './lib/step.ts';
import type { Target } from './lib/walk.ts';

export const json = () => setup;

export default class Setup extends BaseCommand<typeof Setup> {
  static override summary = 'Come onto a server by an invite and take part in its work, from a session too';
  static override description =
    'One walk that does what can be done here and says what is left: the account, its boards, the program, the work and the\nproof that both sessions hear each other. Run it again at any time: nothing is done twice. For an agent into whose\nsession the invite was pasted it is the way in, and no key of a person is read. With - the link is read from a pipe.';
  static override examples = [
    'service setup - --handle maya --yes < invite.txt',
    'service setup prq_01K5A0000000000000000000P1',
  ];
  static override seeAlso = ['connect', 'pairing accept', 'invite preview'];
  static override args = { invite: optional('Link of the invite, id of proposed work, or -') };
  static override flags = {
    handle: stringFlag('NAME', 'The handle the account is to have'),
    name: stringFlag('KEYNAME', 'Name of the key on this machine', { char: 'm' }),
    yes: booleanFlag('Set up the programs of agents too, as service init does', { char: 'y' }),
  };

  override async run(): Promise<void> {
    requireWhole(false);
    const { out, deps } = this;
    const { handle, name, yes = false } = this.flags;
    const target = await this.target(deps);
    const { setUp } = await import('./lib/walk.ts');
    const steps = await setUp(target, { ...deps, handle, name, yes }, () => this.view(target.origin));
    out.print({ steps }, () => stepLines(steps));
    if (steps.some(({ state }) => state === 'failed')) throw new Exit(EXIT.other);
  }

  private async target(deps: Deps): Promise<Target> {
    const { inviteLink, linkText } = await import('../invite/lib/invite-link.ts');
    const text = await linkText(this.args.invite, deps, 'service setup');
    if (!/^prq_/.test(text)) {
      const link = inviteLink(text);
      return { origin: link.origin, link, pairing: null };
    }
    return { origin: serverOfPerson(this.globals.server).origin, link: null, pairing: text };
  }

  private async view(origin: string) {
    const { personView, sessionView } = await import('./lib/view.ts');
    const session = sessionHere();
    return session ? sessionView(session, origin) : personView(await this.sessionAt(origin));
  }
}
