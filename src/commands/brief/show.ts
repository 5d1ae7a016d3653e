import { BaseCommand } from '../../cli/base.ts';
import { board, object, text } from '../../cli/shapes.ts';
import { briefText } from '../file/lib/file-text.ts';
import { readBytes } from '../file/lib/get.ts';
import { filesOf } from '../file/lib/scope.ts';
import { requireBrief } from './lib/brief.ts';

export const json = () => object({ brief: board.shape.brief.unwrap().unwrap(), text });

export default class BriefShow extends BaseCommand<typeof BriefShow> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'Show the brief of a board and what happened since it was written';
  static override description = 'The brief is the one page that says where things stand: brief.md or brief.html.';
  static override examples = ['service brief', 'service brief show --board payments --json'];
  static override seeAlso = ['brief get', 'brief put', 'board charter'];

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('A'));
    const brief = requireBrief(files);
    const wanted = { file: brief.file_id, version: brief.version };
    const text = (await readBytes(files, wanted, this.out)).bytes.toString('utf8');
    this.print<typeof json>({ brief, text }, () => briefText(files.board.name, brief, text, this.times));
  }
}
