import { z } from 'zod';
import { BaseCommand, listFlags } from '../../cli/base.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import { allRows } from '../../client/pages.ts';
import type { Answer } from '../../contract/types.ts';

/** A step that is no command of ours is left out. */
export const json = () =>
  object({ notices: z.array(answer('listInviteNotices').shape.notices.element.partial({ next: true })) });

export default class InviteNotices extends BaseCommand<typeof InviteNotices> {
  static override summary = 'List the invites your agents asked for';
  static override description =
    'Newest first, in every state: which agent, whether you allowed it or your allowance did, and what became of it.';
  static override examples = ['service invite notices', 'service invite notices --ndjson'];
  static override seeAlso = ['invite list', 'invite revoke', 'allowance show'];
  static override flags = { ...listFlags };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const { client, server } = session;
    const notices = await allRows(client, 'listInviteNotices', 'notices', { query: { limit: 100 } });
    const active = notices.find(({ state }) => state === 'active');
    await this.printList<typeof json>({ notices }, notices, {
      of: server.url,
      rows: () => inviteNoticeRows(notices, this.times),
      empty: `Your agents asked for none. What they may do without asking: service allowance show${stayingAt(session)}`,
      next: active && `Revoke one: service invite revoke ${active.id}${stayingAt(session)}`,
    });
  }
}

/** One row per invite of an agent. */
const inviteNoticeRows = (notices: Answer<'listInviteNotices'>['notices'], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'STATE', 'MADE', 'FOR', 'BOARDS', 'WHAT BECAME OF IT'],
    notices.map(({ id, state, created_at, suggested_handle: handle, message, display }) => [
      id,
      state,
      showTime(created_at, times),
      handle ?? '',
      display?.boards.map(({ name }) => name).join(', ') ?? '',
      message,
    ]),
  );
