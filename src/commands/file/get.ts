import { BaseCommand, booleanFlag, optional, required } from '../../cli/base.ts';
import { savedFile } from '../../cli/shapes.ts';
import { getTo } from './lib/get.ts';
import { fileNamed } from './lib/names.ts';
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
    const { client, board } = files.session;
    const { file, version = 'latest' as const } = fileNamed(this.args.name);
    const { id, name } = (await client.call('getFile', { params: { board, file } })).data;
    const to = { path: this.args.path, force: this.flags.force, put: 'service file put' };
    const saved = await getTo(files, { file: id, version, name }, to, this.out);
    if (saved) this.print<typeof json>(saved.record, saved.text);
  }
}
