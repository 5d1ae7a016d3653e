import { confirmFlags, required, WriteCommand } from '../../cli/base.ts';
import type { Client } from '../../client/client.ts';
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
    const params = { board, file: wholeFile(this.args.name) };
    // Without a question nothing is looked up, so that a repeat under the same key is the same request.
    const asked = this.flags.yes ? {} : await this.askedFor(client, params);
    const { data: file, again } = await this.write(client, 'removeFile', { params, ...asked });
    const { version } = file.latest;
    const versions = version === 1 ? 'v1 stays' : `v1 to v${version} stay`;
    this.print<typeof json>(
      { file },
      () => `Removed ${file.name} from ${board}; ${versions} readable by ${file.id}.${again}`,
    );
  }

  /** The file and version that the person was shown, and no other. */
  private async askedFor(client: Client, { board, file }: { board: string; file: string }) {
    const { id, name, latest } = (await client.call('getFile', { params: { board, file } })).data;
    await this.confirm(`Remove ${name} from ${board}? It is at v${latest.version}, by ${latest.by.name}.`, false);
    return { params: { board, file: id }, query: { base: latest.version } };
  }
}
