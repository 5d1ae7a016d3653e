import { required, WriteCommand } from '../../cli/base.ts';
import { shellArgument } from '../../contract/text.ts';
import { edited } from './lib/edit.ts';
import { wholeFile } from './lib/names.ts';
import { filesOf } from './lib/scope.ts';
import { putFile } from './lib/shapes.ts';

export const json = () => putFile;

export default class FileEdit extends WriteCommand<typeof FileEdit> {
  static override summary = 'Change a file of a board in your editor';
  static override description =
    'Opens it in $VISUAL or $EDITOR and puts what you saved. If somebody else wrote a version meanwhile, you choose what\nbecomes of both; your text is never lost.';
  static override examples = ['service file edit notes/api.md', 'EDITOR="code --wait" service file edit notes/api.md'];
  static override seeAlso = ['file get', 'file put', 'brief edit'];
  static override args = { name: required('Path on the board, or id') };

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('P'));
    const { board } = files.session;
    const { data } = await files.session.client.call('getFile', { params: { board, file: wholeFile(this.args.name) } });
    const file = { id: data.id, name: data.name, version: data.latest.version };
    const done = await edited({
      files,
      file,
      query: {},
      command: `service file edit ${shellArgument(file.name)}`,
      getCommand: `service file get ${shellArgument(file.name)}`,
      putCommand: 'service file put',
      key: this.key,
      times: this.times,
      ...this.deps,
    });
    if (!done) {
      const record = { file: data, version: file.version, replaces: file.version, changed: false };
      return this.print<typeof json>(record, () => `${file.name} is unchanged at v${file.version}.`);
    }
    const { data: now } = done.reply;
    const again = this.again(done.reply);
    const record = { file: now, version: now.latest.version, replaces: done.replaces, changed: true };
    this.print<typeof json>(record, () => `Saved ${now.name} v${now.latest.version} on ${board}${again}`);
  }
}
