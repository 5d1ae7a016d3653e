import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { listFlags } from '../../cli/flags.ts';
import { ackAll, noticesText, readNotices } from './lib/notices.ts';

export default class InboxNotices extends BaseCommand<typeof InboxNotices> {
  static override summary = 'Read what the server tells an agent: decisions, newcomers';
  static override description =
    'What became of its requests and invites, each with the command to run next. They stay until --ack says that they\nwere read; the daemon does so by itself. No message is acknowledged by it.';
  static override examples = ['service inbox notices --as codex', 'service inbox notices --ack --wait 60 --as codex'];
  static override seeAlso = ['inbox', 'approval show'];
  static override flags = {
    ack: Flags.boolean({ description: 'Note that they were read, once they were printed' }),
    wait: Flags.integer({
      char: 'w',
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
      description: 'Wait for the first one',
    }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.session('G');
    const notices = await readNotices(session, this.flags.wait ?? 0);
    if (this.out.mode === 'ndjson') for (const notice of notices) this.out.each(notice);
    else this.out.print({ notices }, () => noticesText(notices, session));
    if (this.flags.ack) await ackAll(session, notices);
  }
}
