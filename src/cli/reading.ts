/** Reading a board: one page, all of them, around a number, what is unread, or on and on. */

import type { Client } from '../client/client.ts';
import type { Message } from '../contract/types.ts';
import { Failure } from '../local/failure.ts';
import type { BoardSession } from './base.ts';
import { follow } from './follow.ts';
import { inSession } from './here.ts';
import { tellShown } from './holding.ts';
import { flushed, type Output } from './output.ts';
import { messageList, messageText } from './print/message.ts';
import type { Filters } from './reader.ts';
import { called } from './runtime.ts';
import { staying } from './session.ts';
import { newestFirst, type Page, type Span, spanQuery } from './spans.ts';
import { taskRef, withTasks } from './tasks.ts';
import type { TimeStyle } from './time.ts';

export interface ReadWish extends Span {
  from?: string | undefined;
  role?: string | undefined;
  task?: string | undefined;
  'to-me'?: boolean;
  roots?: boolean;
  has?: string | undefined;
  limit?: number | undefined;
  all?: boolean;
  'mark-read'?: boolean;
  follow?: boolean;
  markdown?: boolean;
}

export interface Show {
  out: Output;
  times: TimeStyle;
}

const MOST = 5000;
const PAGE = 50;

/** `board read` */
export async function read(session: BoardSession, asked: ReadWish, show: Show): Promise<void> {
  const { client, board } = session;
  // Whoever marks as read begins with the oldest unread message, so that nothing unseen is marked.
  const wish = asked['mark-read'] ? { ...asked, unread: true } : asked;
  if (wish.task !== undefined) await withTasks(session);
  if (wish.all || (show.out.mode === 'ndjson' && wish.limit === undefined && !wish.follow))
    return readAll(session, wish, show);
  const begin = wish.follow ? await newestSeq(client, board) : 0;
  const page = await readPage(session, wish);
  if (show.out.mode === 'ndjson') for (const message of page.messages) show.out.each(message);
  else await printPage(session, page, wish, show);
  if (session.seat && inSession()) await tellShown(session.seat, page.messages);
  if (wish['mark-read']) await markRead(client, board, page.messages.at(-1)?.seq, show.out);
  if (wish.follow) await goOn(session, page.messages.at(-1)?.seq ?? wish.after ?? begin, wish, show);
}

/**
 * The number of the newest message; 0 on an empty board. Whoever goes on from it where a page shows nothing asks before
 * the page, so that what is posted between the two is not skipped.
 */
export async function newestSeq(client: Client, board: string): Promise<number> {
  const { data } = await client.call('listMessages', { params: { board }, query: { newest: true, limit: 1 } });
  return data.messages[0]?.seq ?? 0;
}

async function readPage(session: BoardSession, wish: ReadWish): Promise<Page> {
  const limit = wish.limit ?? PAGE;
  const { client, board } = session;
  const ask = async (query: Record<string, string | number | boolean | undefined>): Promise<Page> =>
    (await client.call('listMessages', { params: { board }, query: { ...filtersOf(wish), ...query } })).data;
  if (wish.around !== undefined) {
    const half = Math.max(1, Math.floor(limit / 2));
    const before = await ask({ before: wish.around, newest: true, limit: half });
    const rest = await ask({ after: wish.around - 1, limit: Math.max(1, limit - before.messages.length) });
    return {
      messages: [...before.messages, ...rest.messages],
      next_after: rest.next_after,
      prev_before: before.prev_before,
    };
  }
  return ask({ ...(await spanQuery(session, wish)), limit });
}

async function readAll(session: BoardSession, wish: ReadWish, show: Show): Promise<void> {
  const { client, board } = session;
  const all: Message[] = [];
  let last = wish.after ?? (wish.follow ? await newestSeq(client, board) : 0);
  // Newest first is a view on one page; a whole board is read from its beginning.
  const start = newestFirst(wish) ? { after: 0 } : await spanQuery(session, wish);
  let query: Record<string, number | boolean | undefined> = { ...start, limit: 200 };
  for (;;) {
    const { data } = await client.call('listMessages', { params: { board }, query: { ...filtersOf(wish), ...query } });
    if (show.out.mode === 'ndjson') for (const message of data.messages) show.out.each(message);
    else all.push(...data.messages);
    last = Math.max(last, data.messages.at(-1)?.seq ?? 0);
    if (all.length > MOST) throw tooMany();
    const next = wish.before === undefined ? data.next_after : data.prev_before;
    if (next === null) break;
    query = wish.before === undefined ? { after: next, limit: 200 } : { before: next, newest: true, limit: 200 };
  }
  all.sort((a, b) => a.seq - b.seq);
  if (show.out.mode !== 'ndjson')
    await printPage(session, { messages: all, next_after: null, prev_before: null }, wish, show);
  if (wish['mark-read']) await markRead(client, board, last, show.out);
  if (wish.follow) await goOn(session, last, wish, show);
}

async function printPage(session: BoardSession, page: Page, wish: ReadWish, { out, times }: Show): Promise<void> {
  const { client, board } = session;
  const { messages, next_after, prev_before } = page;
  const extra = out.mode === 'json' ? await boardFacts(client, board) : {};
  out.print({ ...extra, messages, next_after, prev_before }, () =>
    [
      messageList(board, messages, { paint: out.paint, times, markdown: wish.markdown }),
      ...nextCommands(page, wish, staying(session)),
    ].join('\n'),
  );
}

async function boardFacts(client: Client, board: string) {
  const { data } = await client.call('getBoard', { params: { board } });
  return { visibility: data.visibility, read_up_to: data.read_up_to, unread: data.unread };
}

/** @param last the number of the last one that was shown; 0 or undefined where none was. */
async function markRead(client: Client, board: string, last: number | undefined, out: Output): Promise<void> {
  if (!last) return;
  await flushed();
  const { data } = await client.call('ackBoard', { params: { board }, body: { up_to: last } });
  out.note(`Marked as read up to #${data.read_up_to}, ${data.unread} unread.`);
}

async function goOn(session: BoardSession, after: number, wish: ReadWish, { out, times }: Show): Promise<void> {
  const { client, board } = session;
  const style = { paint: out.paint, times, markdown: wish.markdown };
  await follow({
    client,
    board,
    agent: session.agent,
    after,
    filters: filtersOf(wish),
    out,
    show: (message) => out.each(message, () => messageText(message, style)),
  });
}

/** How to see what comes before and after, ready to paste. */
function nextCommands({ next_after: next, prev_before: before }: Page, wish: ReadWish, stay: string): string[] {
  if (wish.follow) return [];
  const filters = [
    wish.from ? ` --from ${wish.from}` : '',
    wish.role ? ` --role ${wish.role}` : '',
    wish.task ? ` --task ${wish.task}` : '',
    wish['to-me'] ? ' --to-me' : '',
    wish.roots ? ' --roots' : '',
    wish.has ? ` --has ${wish.has}` : '',
    stay,
  ].join('');
  return [
    before !== null ? called(`Earlier: service read --before ${before}${filters}`) : '',
    next !== null ? called(`Later: service read --after ${next}${filters}`) : '',
  ].filter(Boolean);
}

function filtersOf(wish: ReadWish): Filters {
  const { from, role, has, task } = wish;
  return {
    from: from?.replace(/^@/, ''),
    role,
    has,
    task: task === undefined ? undefined : taskRef(task),
    ...(wish['to-me'] ? { to_me: true } : {}),
    ...(wish.roots ? { roots: true } : {}),
  };
}

function tooMany(): Failure {
  return new Failure('too_many_results', `There are more than ${MOST} messages.`, {
    hint: 'service read --all --ndjson',
  });
}
