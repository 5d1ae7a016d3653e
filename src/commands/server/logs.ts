import { join } from 'node:path';
import { BaseCommand } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { logFlags, printLog } from './lib/log-file.ts';

export default class ServerLogs extends BaseCommand<typeof ServerLogs> {
  static override summary = "Show the log of this machine's server";
  static override description = [
    'The raw lines of the server that was started in the background. They are in server.log in the data folder. At 10 MiB it',
    'becomes server.log.1, in place of the one before.',
  ].join('\n');
  static override examples = ['service server logs', 'service server logs --follow --limit 20'];
  static override seeAlso = ['server info', 'serve'];
  static override flags = logFlags;

  override async run(): Promise<void> {
    await printLog(this.out, join(runtime().folders.data, 'server.log'), this.flags);
  }
}
