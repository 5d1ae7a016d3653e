import { BaseCommand, booleanFlag, optional, required } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { staying } from '../../cli/session/open-session.ts';
import { savedFile } from '../../cli/shapes.ts';
import { sizeText } from '../../cli/terminal/fields.ts';
import { shellArgument } from '../../contract/text.ts';
import { getFile, printFile } from './lib/get.ts';
import { fileNamed, localName } from './lib/names.ts';
import { filesOf } from './lib/scope.ts';

export const json = () => savedFile;

export default class FileGet extends BaseCommand<typeof FileGet> {
  static override readOnly = true;
  static override summary = 'Get a file from a board';
  static override description =
    'Writes it here under its own name, or to PATH, or with - to standard output. A file here is written over only if it\nis as it was got or put. NAME@3 is version 3.';
  static override examples = [
    'service file get notes/api.md',
    'service file get notes/api.md@3 old.md',
    'service file get report.md - | head',
  ];
  static override seeAlso = ['file put', 'file diff', 'file show'];
  static override args = {
    name: required('Path on the board or id, and with @N a version'),
    path: optional('Where it goes; - is standard output'),
  };
  static override flags = { force: booleanFlag('Write over what is here') };

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('A'));
    const { board } = files.session;
    const { file, version = 'latest' as const } = fileNamed(this.args.name);
    const { data } = await files.session.client.call('getFile', { params: { board, file } });
    const wanted = { file: data.id, version, name: data.name } as const;
    const target = this.args.path ?? localName(data.name);
    const got =
      target === '-'
        ? await printFile(files, wanted, this.out)
        : await getFile(files, wanted, target, this.flags.force, this.out);
    const path = target === '-' ? null : target;
    if (path === null) return;
    const { digest, size, mediaType, fileId } = got;
    const record = {
      name: data.name,
      version: got.version,
      digest,
      size,
      media_type: mediaType,
      path,
      file_id: fileId,
    };
    const shown = path.includes('/') ? path : `./${path}`;
    this.print<typeof json>(record, () =>
      called(
        `${data.name} v${got.version} (${sizeText(size)}) is now ${shown}. To save your changes: service file put ${shellArgument(path)}${staying(files.session)}`,
      ),
    );
  }
}
