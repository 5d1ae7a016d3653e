import * as Flags from '@oclif/core/flags';
import { required } from '../../cli/args.ts';
import { BaseCommand } from '../../cli/base.ts';
import { Exit } from '../../cli/errors.ts';
import { EXIT } from '../../cli/exit.ts';
import { limitFlag, listFlags, numberFlag, waitFlags } from '../../cli/flags.ts';
import { staying } from '../../cli/session/session.ts';
import { readThread, threadText, wholeThread } from './lib/thread.ts';

export default class BoardThread extends BaseCommand<typeof BoardThread> {
  static override summary = 'Read a thread, or wait for its next reply';
  static override description =
    'Any message of the thread names it. A wait that runs out is no error: exit code 0,\nor 3 with --fail-timeout.';
  static override examples = ['service board thread 6', 'service board thread 6 --after 9 --wait 300'];
  static override seeAlso = ['board read', 'board message'];
  static override args = { message: required('A message of the thread: 6, general#6 or msg_…') };
  static override flags = {
    wait: Flags.integer({ char: 'w', min: 0, max: 86_400, helpValue: 'SECONDS', description: 'Wait for a reply' }),
    after: numberFlag('Only replies after this number'),
    limit: limitFlag(),
    markdown: Flags.boolean({ description: 'As a Markdown document' }),
    ...waitFlags,
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const record = await readThread(session, this.args.message, this.flags);
    if (this.out.mode === 'ndjson') {
      for await (const message of wholeThread(session, this.args.message, record, this.flags)) this.out.each(message);
    } else {
      const { agent } = session;
      const style = { paint: this.out.paint, times: this.times, agent, markdown: this.flags.markdown };
      this.out.print(record, () => threadText(session.board, record, style, staying(session)));
    }
    if (record.timed_out && this.flags['fail-timeout']) throw new Exit(EXIT.checkFailed);
  }
}
