import { BaseCommand, booleanFlag, optional } from '../../cli/base.ts';
import { savedFile } from '../../cli/shapes.ts';
import { getTo } from '../file/lib/get.ts';
import { filesOf } from '../file/lib/scope.ts';
import { requireBrief } from './lib/brief.ts';

export const json = () => savedFile;

export default class BriefGet extends BaseCommand<typeof BriefGet> {
  static override readOnly = true;
  static override summary = 'Get the brief of a board as a file';
  static override description =
    'Writes it here under its own name, or to PATH, or with - to standard output. What is put afterwards replaces exactly\nthis version.';
  static override examples = ['service brief get', 'service brief get - | head'];
  static override seeAlso = ['brief put', 'brief show', 'file get'];
  static override args = { path: optional('Where it goes; - is standard output') };
  static override flags = { force: booleanFlag('Write over what is here') };

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('A'));
    const { name, file_id, version } = requireBrief(files);
    const to = { path: this.args.path, force: this.flags.force, put: 'service brief put' };
    const saved = await getTo(files, { file: file_id, version, name }, to, this.out);
    if (saved) this.print<typeof json>(saved.record, saved.text);
  }
}
