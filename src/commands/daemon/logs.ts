import { BaseCommand } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { daemonPaths } from '../../daemon/paths.ts';
import { logFlags, printLog } from '../server/lib/log-file.ts';

export default class DaemonLogs extends BaseCommand<typeof DaemonLogs> {
  static override summary = 'Show the log of the delivery daemon';
  static override description = 'One JSON object a line: ids and numbers, never what a message says.';
  static override examples = ['service daemon logs', 'service daemon logs --follow --limit 20'];
  static override seeAlso = ['daemon status'];
  static override flags = logFlags;

  override async run(): Promise<void> {
    await printLog(this.out, daemonPaths(runtime().folders).log, this.flags);
  }
}
