/** Formats invites. */
import { called } from '../../../cli/runtime.ts';
import { fields, indented, onOneLine } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { Answer } from '../../../contract/types.ts';

type Invite = Answer<'createInvite'>;
type Metadata = Answer<'getInvite'>;
type Preview = Answer<'previewInvite'>;

/** What it is, who can use it and until when; the link alone on its line; what revokes it; and the text to pass on. */
export function newInviteText(invite: Invite, boards: string[], times: TimeStyle): string {
  const onto = boards.length === 0 ? '' : `, onto ${boards.join(', ')}`;
  return [
    `Invite for one person, ${invite.server_role}${onto}, works once, ends ${showEnd(invite.expires_at, times)}:`,
    invite.invite,
    called(`Revoke it: service invite revoke ${invite.id}`),
    'To pass on, in private:',
    indented(invite.prompt),
  ].join('\n');
}

/** One row per invite. */
export const inviteRows = (invites: Metadata[], times: TimeStyle): Promise<string[]> =>
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

/** One row per invite of an agent. */
export const inviteNoticeRows = (
  notices: Answer<'listInviteNotices'>['notices'],
  times: TimeStyle,
): Promise<string[]> =>
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

export const inviteText = (invite: Metadata, times: TimeStyle): string =>
  fields([
    ['id', invite.id],
    ['state', invite.state],
    ['made', showTime(invite.created_at, times)],
    ['ends', showEnd(invite.expires_at, times)],
    ['for', invite.suggested_handle],
    ['boards', invite.boards.join(', ')],
    ['work', invite.pairing_request_id],
    ['by agent', invite.issuing_agent_id],
    ['key', invite.parent_key_id],
  ]).join('\n');

export const previewText = (preview: Preview, times: TimeStyle): string =>
  fields([
    ['server', preview.server_url],
    ['from', `@${onOneLine(preview.inviter_handle)}`],
    ['boards', onOneLine(preview.boards.map(({ name, title }) => (title ? `${name} (${title})` : name)).join(', '))],
    ['for', preview.suggested_handle],
    ['work', onOneLine(preview.work ?? '')],
    ['ends', showEnd(preview.expires_at, times)],
  ]).join('\n');
