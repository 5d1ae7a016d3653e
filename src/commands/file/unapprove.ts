import { required, WriteCommand } from '../../cli/base.ts';
import { wholeFile } from './lib/names.ts';
import { oneFile } from './lib/shapes.ts';

export const json = () => oneFile;

export default class FileUnapprove extends WriteCommand<typeof FileUnapprove> {
  static override summary = 'Take your approval of a file back';
  static override description = 'For people. The record keeps that it was given.';
  static override examples = ['service file unapprove plan.md'];
  static override seeAlso = ['file approve', 'file show'];
  static override args = { name: required('Path on the board, or id') };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('P');
    const { data: file, again } = await this.write(client, 'unapproveFile', {
      params: { board, file: wholeFile(this.args.name) },
    });
    this.print<typeof json>({ file }, () => `You approve no version of ${file.name}.${again}`);
  }
}
