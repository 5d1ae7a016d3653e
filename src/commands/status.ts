import { BaseCommand } from '../cli/base.ts';
import { fields } from '../cli/print/fields.ts';
import { readStatus, statusLines } from '../cli/status.ts';

export default class Status extends BaseCommand<typeof Status> {
  static override summary = 'Show server, board and agent in use, and where each was chosen';
  static override description = 'Starts nothing: a local server that does not run is reported, not started.';
  static override examples = ['service status', 'service status --json'];
  static override seeAlso = ['whoami', 'servers list'];

  override async run(): Promise<void> {
    const status = await readStatus(() => this.session('A', { autostart: false }), this.globals.board, this.out);
    this.out.print(status, () => fields(statusLines(status, this.out.base)).join('\n'));
  }
}
