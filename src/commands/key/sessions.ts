import { BaseCommand, listFlags, stringFlag } from '../../cli/base.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import { wholeList } from '../../client/pages.ts';
import type { BrowserSession } from '../../contract/types.ts';

export const json = () => {
  const sessions = answer('listBrowserSessions').shape;
  return object({ person: sessions.person, sessions: sessions.sessions });
};

export default class KeySessions extends BaseCommand<typeof KeySessions> {
  static override summary = 'List the browsers you are signed in with';
  static override description = 'Newest first. A session ends when its time is over, when its key ends, or by hand.';
  static override examples = ['service key sessions', 'service key sessions --key laptop --json'];
  static override seeAlso = ['key end-session', 'open'];
  static override flags = { key: stringFlag('NAME', 'Only those started from this key'), ...listFlags };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const { client, server } = session;
    const { key } = this.flags;
    const id = key?.startsWith('key_') ? key : undefined;
    const query = { key: id, limit: 500 };
    const { person, sessions: all } = await wholeList(client, 'listBrowserSessions', 'sessions', { query });
    // By its name a key without a session need not be there: guests cannot ask for theirs.
    const sessions = all.filter((one) => key === undefined || id !== undefined || one.key.name === key);
    await this.printList<typeof json>({ person, sessions }, sessions, {
      of: server.url,
      rows: () => sessionRows(sessions, this.times),
      empty: `Sign a browser in: service open${stayingAt(session)}`,
      next: sessions.length > 0 && `End one: service key end-session ID${stayingAt(session)}`,
    });
  }
}

const how = { login_code: 'by a link', access_key: 'with the key itself' };

const sessionRows = (sessions: BrowserSession[], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'KEY', 'STARTED', 'ENDS'],
    sessions.map(({ id, key, started_with, created_at, expires_at }) => [
      id,
      key.name,
      `${showTime(created_at, times)} ${how[started_with]}`,
      showEnd(expires_at, times),
    ]),
  );
