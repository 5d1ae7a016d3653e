import { z } from 'zod';
import { BaseCommand, booleanFlag, required, stringFlag } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { collectedKey, object, text } from '../../cli/shapes.ts';
import { bringKey, requestKey } from './lib/machine-key.ts';

export const json = () => z.union([object({ code: text, expires_at: text }), collectedKey]);

export default class MachineRequest extends BaseCommand<typeof MachineRequest> {
  static override summary = 'Ask for a key for this machine by a short code';
  static override description =
    'For a machine on which nobody is signed in: shows a code, which you approve on one where you are, within five\nminutes. This machine then gets a key of its own, which ends on its own too.\n--detach prints the code and returns; "service machine collect" fetches the key later.';
  static override examples = [
    'service machine request https://team.example.com --handle maya',
    'service machine request https://team.example.com --handle maya --label build-box --detach',
  ];
  static override seeAlso = ['machine approve', 'machine collect', 'connect'];
  static override args = { url: required('Address of the server') };
  static override flags = {
    handle: stringFlag('NAME', 'Your handle there'),
    label: stringFlag('NAME', 'Name of the key; shown to the person who approves it'),
    detach: booleanFlag('Print the code and do not wait'),
  };

  override async run(): Promise<void> {
    await this.requirePerson();
    const { out, deps } = this;
    const { handle, label, detach } = this.flags;
    if (!detach) {
      const { record, text, next } = await bringKey(this.args.url, { ...deps, handle, label });
      return out.print(record, () => `${text}\n${next}`);
    }
    const begun = await requestKey(this.args.url, { ...deps, handle, label });
    const { origin, code, expires_at } = begun;
    out.print({ code, expires_at }, () =>
      [
        `${code}, for five minutes.`,
        `Where ${begun.handle} is signed in:  ${called(`service machine approve ${code} --server ${origin}`)}`,
        `Then here:  ${called(`service machine collect ${origin}`)}`,
      ].join('\n'),
    );
  }
}
