import { booleanFlag, required, tagFlags, WriteCommand } from '../../cli/base.ts';
import { usage } from '../../local/failure.ts';
import { fileLine } from './lib/file-text.ts';
import { wholeFile } from './lib/names.ts';
import { tagsOf } from './lib/options.ts';
import { oneFile } from './lib/shapes.ts';

export const json = () => oneFile;

export default class FileUpdate extends WriteCommand<typeof FileUpdate> {
  static override summary = 'Say what a file is for, and whether it is kept current';
  static override description = 'Changes no version. --task replaces the tasks it was for.';
  static override examples = [
    'service file update notes/api.md --task CHK-17',
    'service file update status.md --maintained',
    'service file update notes/api.md --no-tasks',
  ];
  static override seeAlso = ['file rename', 'file show'];
  static override args = { name: required('Path on the board, or id') };
  static override flags = { ...tagFlags, 'no-tasks': booleanFlag('It is for no task') };

  override async run(): Promise<void> {
    const body = tagsOf(this.flags);
    if (body.about === undefined && body.maintained === undefined)
      throw usage('Nothing to change is given.', 'service file update NAME --maintained');
    const { client, board } = await this.onBoard('A');
    const { data, again } = await this.write(client, 'updateFile', {
      params: { board, file: wholeFile(this.args.name) },
      body,
    });
    this.print<typeof json>({ file: data }, () => `${fileLine(data, this.times)}${again}`);
  }
}
