import { BaseCommand, booleanFlag, confirmFlags, optional, stringFlag } from '../../cli/base.ts';
import { collectedKey } from '../../cli/shapes.ts';
import type { BroughtKey } from '../key/lib/pending-keys.ts';

export const json = () => collectedKey;

export default class Connect extends BaseCommand<typeof Connect> {
  static override summary = 'Come onto a server by an invite';
  static override description =
    'Takes the link of an invite: shows where it leads, asks for your handle there, makes your account and saves its key\non this machine. With - the link is read from a pipe or typed unseen, so that no shell remembers it. The bare\naddress of a server asks for a key by a short code instead, as "service machine request" does.\n--resume finds out what became of a connect whose answer was lost; it never makes a second account.';
  static override examples = [
    'service connect -',
    'service connect - --handle maya --yes < invite.txt',
    'service connect https://team.example.com --handle maya',
    'service connect --resume',
  ];
  static override seeAlso = ['invite create', 'machine request', 'login'];
  static override args = { invite: optional('Link of the invite, address of a server, or -') };
  static override flags = {
    handle: stringFlag('NAME', 'Your handle there'),
    'display-name': stringFlag('TEXT', 'What you are called beside it'),
    name: stringFlag('KEYNAME', 'Name of the key on this machine', { char: 'm' }),
    resume: booleanFlag('Find out what became of an earlier connect'),
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    await this.requirePerson();
    const { record, text, next } = await this.arrive();
    this.print<typeof json>(record, () => `${text}\n${next}`);
  }

  private async arrive(): Promise<BroughtKey> {
    const { handle, 'display-name': displayName, name, resume: again, yes = false } = this.flags;
    const { deps } = this;
    const options = { ...deps, handle, displayName, name, yes };
    const { connectBy, resume, waitingConnect } = await import('./lib/connect.ts');
    if (again) return resume(waitingConnect(this.args.invite), options);
    const { inviteLink, isBareAddress, linkText } = await import('../invite/lib/invite-link.ts');
    const text = await linkText(this.args.invite, deps, 'service connect');
    if (!isBareAddress(text)) return connectBy(inviteLink(text), options);
    const { bringKey } = await import('../machine/lib/machine-key.ts');
    return bringKey(text, { ...deps, handle, label: name });
  }
}
