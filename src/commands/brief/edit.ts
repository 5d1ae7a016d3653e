import { WriteCommand } from '../../cli/base.ts';
import { edited } from '../file/lib/edit.ts';
import { filesOf } from '../file/lib/scope.ts';
import { requireBrief } from './lib/brief.ts';
import { briefPut } from './lib/shapes.ts';

export const json = () => briefPut;

export default class BriefEdit extends WriteCommand<typeof BriefEdit> {
  static override boardFirst = true;
  static override summary = 'Change the brief of a board in your editor';
  static override description =
    'As file edit. If somebody else wrote a version meanwhile, you choose what becomes of both.';
  static override examples = ['service brief edit'];
  static override seeAlso = ['brief put', 'brief show', 'file edit'];

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('P'));
    const { name, file_id: id, version } = requireBrief(files);
    const done = await edited({
      files,
      file: { id, name, version },
      query: { brief: true },
      command: 'service brief edit',
      getCommand: 'service brief get',
      putCommand: 'service brief put',
      key: this.key,
      times: this.times,
      ...this.deps,
    });
    if (!done)
      return this.print<typeof json>({ name, version, replaced: null }, () => `${name} is unchanged at v${version}.`);
    const { latest } = done.reply.data;
    const again = this.again(done.reply);
    this.print<typeof json>(
      { name, version: latest.version, replaced: done.replaces },
      () => `Saved ${name} v${latest.version} on ${files.session.board}${again}`,
    );
  }
}
