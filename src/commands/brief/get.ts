import { BaseCommand, booleanFlag, optional } from '../../cli/base.ts';
import { savedFile } from '../../cli/shapes.ts';
import { getFile, printFile, savedFrom } from '../file/lib/get.ts';
import { localName } from '../file/lib/names.ts';
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
    const wanted = { file: file_id, version, name };
    const path = this.args.path ?? localName(name);
    if (path === '-') {
      await printFile(files, wanted, this.out);
      return;
    }
    const got = await getFile(files, wanted, path, this.flags.force, this.out);
    const saved = savedFrom(got, name, path, { put: 'service brief put', files });
    this.print<typeof json>(saved.record, saved.text);
  }
}
