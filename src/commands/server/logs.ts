import { join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { runtime } from '../../cli/runtime.ts';
import { followFile, lastLines } from './lib/log-file.ts';

export default class ServerLogs extends BaseCommand<typeof ServerLogs> {
  static override summary = "Show the log of this machine's server";
  static override description = 'The raw lines of the server that was started in the background.';
  static override examples = ['service server logs', 'service server logs --follow --limit 20'];
  static override seeAlso = ['server info', 'serve'];
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'Go on with what is written from now on' }),
    limit: Flags.integer({ char: 'n', min: 0, default: 100, helpValue: 'N', description: 'Lines to begin with' }),
  };

  override async run(): Promise<void> {
    const path = join(runtime().folders.data, 'server.log');
    const { text, end } = lastLines(path, this.flags.limit);
    this.out.raw(text);
    if (this.flags.follow) await followFile(path, end, (part) => this.out.raw(part));
  }
}
