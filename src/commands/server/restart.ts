import { BaseCommand } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { startRecord, startText } from './lib/local-control.ts';
import { startedServer } from './lib/shapes.ts';

export const json = () => startedServer;

export default class ServerRestart extends BaseCommand<typeof ServerRestart> {
  static override summary = "Stop this machine's server and start it again";
  static override description = 'Requests that are under way are finished first; streams come back by themselves.';
  static override examples = ['service server restart'];
  static override seeAlso = ['server start', 'server stop'];

  override async run(): Promise<void> {
    const { stopForRestart } = await import('../../local/own-server/start.ts');
    await stopForRestart(runtime());
    const record = await startRecord();
    this.print<typeof json>(record, () => startText(record));
  }
}
