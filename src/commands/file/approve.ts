import { required, WriteCommand } from '../../cli/base.ts';
import { fileNamed } from './lib/names.ts';
import { oneFile } from './lib/shapes.ts';

export const json = () => oneFile;

export default class FileApprove extends WriteCommand<typeof FileApprove> {
  static override summary = 'Approve a version of a file';
  static override description =
    'Approves exactly the version that is there now, or the one after @; what is written later is not approved by it.\nFor people.';
  static override examples = ['service file approve plan.md', 'service file approve plan.md@3'];
  static override seeAlso = ['file unapprove', 'file show', 'file diff'];
  static override args = { name: required('Path on the board or id, and with @N a version') };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('P');
    const named = fileNamed(this.args.name);
    const found = (await client.call('getFile', { params: { board, file: named.file } })).data;
    const version = named.version ?? found.latest.version;
    const params = { board, file: found.id };
    const { data: file, again } = await this.write(client, 'approveFile', { params, body: { version } });
    this.print<typeof json>({ file }, () => `Approved ${file.name} v${version}.${again}`);
  }
}
