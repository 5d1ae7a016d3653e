import { required, WriteCommand } from '../../cli/base.ts';
import { wholeFile } from './lib/names.ts';
import { oneFile } from './lib/shapes.ts';

export const json = () => oneFile;

export default class FileRename extends WriteCommand<typeof FileRename> {
  static override summary = 'Give a file another path on its board';
  static override description =
    'Its versions, approvals and id stay. The brief under another path is the brief no longer.';
  static override examples = ['service file rename notes/api.md docs/api.md'];
  static override seeAlso = ['file update', 'file remove'];
  static override args = { name: required('Path on the board, or id'), new: required('Its new path') };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const before = wholeFile(this.args.name);
    const params = { board, file: before };
    const { data: file, again } = await this.write(client, 'updateFile', { params, body: { name: this.args.new } });
    this.print<typeof json>({ file }, () => `${before} is now ${file.name}.${again}`);
  }
}
