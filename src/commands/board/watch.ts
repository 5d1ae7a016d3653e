import * as Flags from '@oclif/core/flags';
import { z } from 'zod';
import { BaseCommand, booleanFlag, integerFlag, stringFlag } from '../../cli/base.ts';
import type { BoardSession, Session } from '../../cli/session/open-session.ts';
import { message, text } from '../../cli/shapes.ts';
import { followed } from '../../cli/terminal/time.ts';
import type { Client } from '../../client/client.ts';
import type { Message } from '../../contract/types.ts';
import { readBoards } from './lib/list.ts';
import { unlessNobody } from './lib/read/catch-up.ts';
import { type Filters, filtersOf } from './lib/read/filters.ts';
import { follow } from './lib/read/follow.ts';
import { boardIsGone, followHints, type Head } from './lib/read/follow-hints.ts';
import { messageText } from './lib/read/message-text.ts';
import { lookedUpTo, newestSeq } from './lib/read/read.ts';

export const json = () => z.strictObject({ board: text, message });

export default class BoardWatch extends BaseCommand<typeof BoardWatch> {
  static override boardFirst = true;
  static override readOnly = true;
  static override aliases = ['watch'];
  static override stream = true;
  static override summary = 'Show messages as they are posted';
  static override description =
    'The newest ones first, then each new one, until it is interrupted. A connection that breaks is made again and\nnothing is shown twice or left out. --all-boards shows every board of yours in one stream, also those you come onto\nmeanwhile. With --json: one object per line.';
  static override examples = [
    'service board watch',
    'service watch --from codex',
    'service watch --since 40 --json',
    'service watch --all-boards',
  ];
  static override seeAlso = ['board read'];
  static override flags = {
    since: integerFlag('N', 'Begin after this number', { min: 0, exclusive: ['all-boards'] }),
    'all-boards': booleanFlag('Every board you are on', { exclusive: ['board'] }),
    limit: Flags.integer({
      char: 'n',
      min: 0,
      max: 200,
      default: 20,
      helpValue: 'N',
      description: 'How many to begin with',
    }),
    from: stringFlag('NAME', 'Only messages of this member'),
    role: stringFlag('ROLE', 'Only messages of this role'),
    ndjson: booleanFlag('Print one JSON object per line'),
  };

  override async run(): Promise<void> {
    if (this.flags['all-boards']) await this.watchAll(await this.session('P'));
    else await this.watch(await this.onBoard('A'));
  }

  private async watch({ client, board, agent }: BoardSession): Promise<void> {
    const { since, limit } = this.flags;
    const filters = filtersOf(this.flags);
    const query = since === undefined ? { newest: true, limit: Math.max(1, limit) } : { after: since, limit: 200 };
    const newest = await newestSeq(client, board);
    const { data } = await client.call('listMessages', { params: { board }, query: { ...filters, ...query } });
    const { out } = this;
    const style = { paint: out.paint, times: followed(this.times), agent };
    const show = (message: Message) => out.each({ board, message }, () => messageText(message, style));
    if (since !== undefined || limit > 0) for (const message of data.messages) show(message);
    const after = lookedUpTo(data, Math.max(newest, since ?? 0));
    await follow({ client, board, agent, after, filters, out, show });
  }

  /** Every board the person is on, also those they come onto meanwhile. */
  private async watchAll(session: Session): Promise<void> {
    const { limit } = this.flags;
    const { out } = this;
    const filters = filtersOf(this.flags);
    const style = { paint: out.paint, times: followed(this.times), agent: session.agent };
    let last = '';
    const show = (message: Message) => {
      const { board } = message;
      const header = board === last ? '' : `${style.paint.bold(board)}\n`;
      last = board;
      out.each({ board, message }, () => header + messageText(message, style));
    };
    const begin = async (heads: Head[]) => {
      const newest = limit > 0 ? await newestOf(session, limit, filters) : [];
      const shown = new Map(heads.map(({ board_id, seq }) => [board_id, seq]));
      for (const { id, messages } of newest) shown.set(id, Math.max(shown.get(id) ?? 0, messages.at(-1)?.seq ?? 0));
      const inOrder = newest.flatMap(({ messages }) => messages).sort((a, b) => a.at.localeCompare(b.at));
      for (const message of inOrder.slice(-limit)) show(message);
      return shown;
    };
    await followHints({ client: session.client, filters, out, begin, show });
  }
}

/** The newest messages of the boards that were written on last: no more boards than messages are wanted. */
async function newestOf(
  session: Session,
  limit: number,
  filters: Filters,
): Promise<{ id: string; messages: Message[] }[]> {
  const { client } = session;
  const { boards } = await readBoards(session, { all: false, archived: false });
  const mine = boards
    .filter(({ on_board, last_message_at }) => on_board && last_message_at !== null)
    .sort((a, b) => (b.last_message_at ?? '').localeCompare(a.last_message_at ?? ''))
    .slice(0, limit);
  const pages: { id: string; messages: Message[] }[] = [];
  for (const { id, name } of mine) pages.push({ id, messages: await pageOf(client, name, limit, filters) });
  return pages;
}

async function pageOf(client: Client, board: string, limit: number, filters: Filters): Promise<Message[]> {
  try {
    const query = { ...filters, newest: true, limit };
    return (
      (await unlessNobody(null, () => client.call('listMessages', { params: { board }, query })))?.data.messages ?? []
    );
  } catch (error) {
    if (boardIsGone(error)) return [];
    throw error;
  }
}
