import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { listFlags } from '../../cli/flags.ts';
import { called } from '../../cli/runtime.ts';
import { rowsOr } from '../../cli/table.ts';
import { browserSessions } from './lib/browser-sessions.ts';
import { sessionRows } from './lib/session-text.ts';

export default class KeySessions extends BaseCommand<typeof KeySessions> {
  static override summary = 'List the browsers you are signed in with';
  static override description = 'Newest first. A session ends when its time is over, when its key ends, or by hand.';
  static override examples = ['service key sessions', 'service key sessions --key laptop --json'];
  static override seeAlso = ['key end-session', 'open'];
  static override flags = {
    key: Flags.string({ helpValue: 'NAME', description: 'Only those started from this key' }),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const { client, server } = await this.session('P');
    const { person, sessions } = await browserSessions(client, this.flags.key);
    if (this.out.mode === 'ndjson') {
      for (const session of sessions) this.out.each(session);
      return;
    }
    const rows = await sessionRows(sessions, this.times);
    const more = sessions.length > 0 ? [called('End one: service key end-session <id>')] : [];
    this.out.print({ person, sessions }, () =>
      [`${server.url} · ${sessions.length}`, ...rowsOr(rows, 'Sign a browser in: service open'), ...more].join('\n'),
    );
  }
}
