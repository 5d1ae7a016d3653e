import { z } from 'zod';
import { BaseCommand, choiceFlag, listFlags } from '../../cli/base.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import { allRows } from '../../client/pages.ts';
import type { Answer } from '../../contract/types.ts';

export const json = () => object({ invites: z.array(answer('getInvite')) });

export default class InviteList extends BaseCommand<typeof InviteList> {
  static override summary = 'List your invites';
  static override description =
    'Newest first, with those your agents asked for. The link of an invite is never shown again.';
  static override examples = ['service invite list', 'service invite list --state active --json'];
  static override seeAlso = ['invite create', 'invite show', 'invite revoke'];
  static override flags = {
    state: choiceFlag(['active', 'redeemed', 'revoked', 'expired', 'all'], 'Only those in this state'),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const { client, server } = session;
    const query = { state: this.flags.state, limit: 500 };
    const invites = await allRows(client, 'listInvites', 'invites', { query });
    const active = invites.some((invite) => invite.state === 'active');
    await this.printList<typeof json>({ invites }, invites, {
      of: server.url,
      rows: () => inviteRows(invites, this.times),
      empty: `Invite somebody: service invite create${stayingAt(session)}`,
      next: active && `Revoke one: service invite revoke ID${stayingAt(session)}`,
    });
  }
}

/** One row per invite. */
const inviteRows = (invites: Answer<'getInvite'>[], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'STATE', 'ENDS', 'MADE', 'FOR', 'BOARDS'],
    invites.map((invite) => [
      invite.id,
      invite.state,
      invite.state === 'active' ? showEnd(invite.expires_at, times) : '',
      showTime(invite.created_at, times),
      invite.suggested_handle ?? '',
      invite.boards.length === 0 ? '' : String(invite.boards.length),
    ]),
  );
