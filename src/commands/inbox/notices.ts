import { z } from 'zod';
import { BaseCommand, booleanFlag, listFlags, waitFlag } from '../../cli/base.ts';
import { flushed, type Output } from '../../cli/output.ts';
import { called } from '../../cli/runtime.ts';
import { reservedHere } from '../../cli/session/here.ts';
import type { Session } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { onOneLine } from '../../cli/terminal/fields.ts';
import { allRows } from '../../client/pages.ts';
import { waitFor } from '../../client/wait.ts';
import type { Answer } from '../../contract/types.ts';
import { body } from '../../daemon/bundle/escape.ts';
import { allowedCommand } from '../../daemon/compose/allowed-command.ts';
import { tellNoAnswer } from './lib/inbox.ts';
import { ofInbox } from './lib/seats.ts';

/** A step that is no command of ours is left out. */
export const json = () =>
  object({ notices: z.array(answer('listNotices').shape.notices.element.partial({ next: true })) });

export default class InboxNotices extends BaseCommand<typeof InboxNotices> {
  static override summary = 'Read what the server tells an agent: decisions, newcomers';
  static override description =
    'What became of its requests and invites, each with the command to run next. They stay until --ack says that they\nwere read; the daemon does so by itself. No message is acknowledged by it.';
  static override examples = ['service inbox notices --as codex', 'service inbox notices --ack --wait 60 --as codex'];
  static override seeAlso = ['inbox', 'approval show'];
  static override flags = {
    ack: booleanFlag('Note that they were read, once they were printed'),
    wait: waitFlag('Wait for the first one'),
    ...listFlags,
  };

  override async run(): Promise<void> {
    if (this.flags.ack) this.out.requireShown('--ack has nothing to acknowledge', 'service inbox notices --ack');
    const session = await ofInbox(await this.session('G'));
    const notices = await readNotices(session, this.flags.wait ?? 0);
    if (this.out.mode === 'ndjson') for (const notice of notices) this.out.each(notice);
    else this.print<typeof json>({ notices }, () => noticesText(notices, session));
    if (this.flags.ack) await ackAll(session, notices, this.out);
  }
}

type Notice = Answer<'listNotices'>['notices'][number];

/** All that the agent was not told yet; waits for the first one where that was asked for. @param wait seconds */
async function readNotices({ client, choice }: Session, wait: number): Promise<Notice[]> {
  const waiting = { waitSeconds: wait, onNoAnswer: tellNoAnswer(choice.out) };
  if (wait > 0) await waitFor(client, 'listNotices', {}, waiting);
  return allRows(client, 'listNotices', 'notices', { query: { limit: 100 } });
}

/** Notes that those whose texts are printed were told, once the reader has them. */
async function ackAll({ client }: Session, all: Notice[], out: Output): Promise<void> {
  const notices = out.shownOf('notices', all, 'text');
  if (notices.length < all.length) out.noteUnshown('notices');
  if (notices.length === 0) return;
  await flushed();
  for (let from = 0; from < notices.length; from += 50) {
    const ids = notices.slice(from, from + 50).map(({ id }) => id);
    await client.call('ackNotices', { body: { ids } });
  }
}

/** A line each. What a server proposes to run stands in it only where it is a command of ours, for that server. */
function noticesText(notices: Notice[], { server, choice: { board, as } }: Session): string {
  if (notices.length === 0) return called('There is no notice. Messages are in: service inbox');
  const on = `${board ? ` --board ${board}` : ''}${as ? ` --as ${as}` : ''}`;
  return notices.map(({ text, next }) => lineOf(text, allowedCommand(next, server.url, on))).join('\n');
}

/** A server's words are escaped like any sender's. */
const lineOf = (text: string, command: string | null): string =>
  `${body(onOneLine(text), reservedHere())}${command === null ? '' : ` ${called(command)}`}`;
