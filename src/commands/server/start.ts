import { BaseCommand } from '../../cli/base.ts';
import { startRecord, startText } from './lib/local-control.ts';
import { startedServer } from './lib/shapes.ts';

export const json = () => startedServer;

export default class ServerStart extends BaseCommand<typeof ServerStart> {
  static override aliases = ['up'];
  static override summary = "Start this machine's server";
  static override description = 'Does nothing when it runs already; replaces one that an older version left running.';
  static override examples = ['service server start', 'service up'];
  static override seeAlso = ['server stop', 'server logs', 'serve'];

  override async run(): Promise<void> {
    const record = await startRecord();
    this.print<typeof json>(record, () => startText(record));
  }
}
