import { confirmFlags, required, WriteCommand } from '../../cli/base.ts';
import { wholeFile } from './lib/names.ts';
import { oneFile } from './lib/shapes.ts';

export const json = () => oneFile;

export default class FileRemove extends WriteCommand<typeof FileRemove> {
  static override summary = 'Take a file off its board';
  static override description =
    'Its path is free at once. Its versions, approvals and every message that cites it stay, and are found by its id.';
  static override examples = ['service file remove notes/old.md', 'service file remove notes/old.md --yes'];
  static override seeAlso = ['file rename', 'file show'];
  static override args = { name: required('Path on the board, or id') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const { data } = await client.call('getFile', { params: { board, file: wholeFile(this.args.name) } });
    const { version, by } = data.latest;
    await this.confirm(`Remove ${data.name} from ${board}? It is at v${version}, by ${by.name}.`, this.flags.yes);
    const params = { board, file: data.id };
    const { data: file, again } = await this.write(client, 'removeFile', { params, query: { base: version } });
    const versions = version === 1 ? 'v1 stays' : `v1 to v${version} stay`;
    this.print<typeof json>(
      { file },
      () => `Removed ${data.name} from ${board}; ${versions} readable by ${data.id}.${again}`,
    );
  }
}
