import { BaseCommand, optional, required } from '../../cli/base.ts';
import { object, text } from '../../cli/shapes.ts';
import { diffOf, diffText } from './lib/diff.ts';
import { filesOf } from './lib/scope.ts';

export const json = () => object({ from: text, to: text, diff: text });

export default class FileDiff extends BaseCommand<typeof FileDiff> {
  static override readOnly = true;
  static override summary = 'Show what changed between two versions of a file, or here since it was got';
  static override description =
    'With a file of this machine that was got or put: against the version it came from. With a path on the board: V1\nagainst V2, V1 against the latest, or the two latest.';
  static override examples = [
    'service file diff api.md',
    'service file diff notes/api.md 3 5',
    'service file diff notes/api.md 3',
  ];
  static override seeAlso = ['file get', 'file put', 'file show'];
  static override args = {
    name: required('File on this machine, or path on the board'),
    v1: optional('Version to compare'),
    v2: optional('Version to compare it with'),
  };

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('A'));
    const { name, v1, v2 } = this.args;
    const versions = [v1, v2].filter((version) => version !== undefined);
    const record = await diffOf(files, name, versions, this.out);
    const text = diffText(record.diff.replace(/\n$/, ''), this.out.paint);
    this.print<typeof json>(record, () => text || `${record.from} and ${record.to} are the same.`);
  }
}
