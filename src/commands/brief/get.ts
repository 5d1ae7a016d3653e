import { BaseCommand, booleanFlag, optional } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { staying } from '../../cli/session/open-session.ts';
import { savedFile } from '../../cli/shapes.ts';
import { sizeText } from '../../cli/terminal/fields.ts';
import { shellArgument } from '../../contract/text.ts';
import { getFile, printFile } from '../file/lib/get.ts';
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
    const { digest, size, mediaType } = await getFile(files, wanted, path, this.flags.force, this.out);
    const shown = path.includes('/') ? path : `./${path}`;
    this.print<typeof json>({ name, version, digest, size, media_type: mediaType, path, file_id }, () =>
      called(
        `${name} v${version} (${sizeText(size)}) is now ${shown}. To save your changes: service brief put ${shellArgument(path)}${staying(files.session)}`,
      ),
    );
  }
}
