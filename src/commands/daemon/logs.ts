import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { daemonPaths } from '../../daemon/paths.ts';
import { followFile, lastLines } from '../server/lib/log-file.ts';

export default class DaemonLogs extends BaseCommand<typeof DaemonLogs> {
  static override summary = 'Show the log of the delivery daemon';
  static override description = 'One JSON object a line: ids and numbers, never what a message says.';
  static override examples = ['service daemon logs', 'service daemon logs --follow --limit 20'];
  static override seeAlso = ['daemon status'];
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'Go on with what is written from now on' }),
    limit: Flags.integer({ char: 'n', min: 0, default: 100, helpValue: 'N', description: 'Lines to begin with' }),
  };

  override async run(): Promise<void> {
    const path = daemonPaths(runtime().folders).log;
    const { text, end } = lastLines(path, this.flags.limit);
    this.out.raw(text);
    if (this.flags.follow) await followFile(path, end, (part) => this.out.raw(part));
  }
}
