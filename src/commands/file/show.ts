import { BaseCommand, required } from '../../cli/base.ts';
import { fileDetail, object } from '../../cli/shapes.ts';
import { allRows } from '../../client/pages.ts';
import { fileText } from './lib/file-text.ts';
import { wholeFile } from './lib/names.ts';

export const json = () => object({ file: fileDetail });

export default class FileShow extends BaseCommand<typeof FileShow> {
  static override readOnly = true;
  static override summary = 'Show a file: its versions, approvals and where it was posted';
  static override description = 'NAME is its path on the board or its id; a file that was removed is found by its id.';
  static override examples = ['service file show notes/api.md', 'service file show notes/api.md --json'];
  static override seeAlso = ['file list', 'file get', 'file diff'];
  static override args = { name: required('Path on the board, or id') };

  override async run(): Promise<void> {
    const { client, board } = await this.onBoard('A');
    const { data: file } = await client.call('getFile', { params: { board, file: wholeFile(this.args.name) } });
    const params = { board, file: file.id };
    const query = { limit: 200 };
    if (file.versions_more) {
      file.versions = await allRows(client, 'listFileVersions', 'versions', { params, query });
      file.versions_more = false;
    }
    if (file.posted_in_more) {
      file.posted_in = await allRows(client, 'listFilePosts', 'posted_in', { params, query });
      file.posted_in_more = false;
    }
    const text = await fileText(file, this.times);
    this.print<typeof json>({ file }, () => text);
  }
}
