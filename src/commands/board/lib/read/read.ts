/** Reads messages of a board: one page, all pages, around a number, unread ones, or following. */
import { flagWords, patiently } from '../../../../cli/list.ts';
import { flushed, type Output } from '../../../../cli/output.ts';
import { called } from '../../../../cli/runtime.ts';
import { inSession } from '../../../../cli/session/here.ts';
import { type BoardSession, staying } from '../../../../cli/session/open-session.ts';
import { followed, type TimeStyle } from '../../../../cli/terminal/time.ts';
import type { Client } from '../../../../client/client.ts';
import { pages } from '../../../../client/pages.ts';
import type { Message } from '../../../../contract/types.ts';
import { Failure } from '../../../../local/failure.ts';
import { tellShown } from '../../../inbox/lib/hold-deliveries.ts';
import { withTasks } from '../../../task/lib/tasks.ts';
import { type FilterOptions, filtersOf, filterWords } from './filters.ts';
import { follow } from './follow.ts';
import { messageList, messageText } from './message-text.ts';

interface ReadOptions extends Span, FilterOptions {
  limit?: number | undefined;
  all?: boolean;
  'mark-read'?: boolean;
  follow?: boolean;
  markdown?: boolean;
}

interface Show {
  out: Output;
  times: TimeStyle;
}

const MOST = 5000;
const PAGE = 50;

/** `board read` */
export async function read(session: BoardSession, asked: ReadOptions, { out, times }: Show): Promise<void> {
  const { client, board } = session;
  const show = { out, times: asked.follow ? followed(times) : times };
  // Marking as read begins with the oldest unread message, so that nothing unseen is marked.
  const options = asked['mark-read'] ? { ...asked, unread: true } : asked;
  if (options.task !== undefined) await withTasks(session);
  const { limit, around } = options;
  if (options.all || (out.mode === 'ndjson' && limit === undefined && around === undefined && !options.follow))
    return readAll(session, options, show);
  const begin = options.follow ? await newestSeq(client, board) : 0;
  const page = await readPage(session, options);
  if (out.mode === 'ndjson') for (const message of page.messages) out.each(message);
  else await printPage(session, page, options, show);
  if (session.seat && inSession()) {
    await flushed();
    await tellShown(session.seat, out.shownOf('messages', page.messages));
  }
  if (options['mark-read']) await markRead(session, printedTo(NONE, page.messages, out), out);
  if (options.follow) await goOn(session, lookedUpTo(page, Math.max(begin, options.after ?? 0)), options, show);
}

/** Up to which number a page shows or leaves out everything. @param newest what `newestSeq` said before it was asked for */
export const lookedUpTo = ({ messages, next_after }: Pick<Page, 'messages' | 'next_after'>, newest: number): number =>
  next_after ?? Math.max(newest, messages.at(-1)?.seq ?? 0);

/** The number of the newest message; 0 on an empty board. */
export async function newestSeq(client: Client, board: string): Promise<number> {
  const { data } = await client.call('listMessages', { params: { board }, query: { newest: true, limit: 1 } });
  return data.messages[0]?.seq ?? 0;
}

async function readPage(session: BoardSession, options: ReadOptions): Promise<Page> {
  const limit = options.limit ?? PAGE;
  const { client, board } = session;
  const ask = async (query: Record<string, string | number | boolean | undefined>): Promise<Page> =>
    (await client.call('listMessages', { params: { board }, query: { ...filtersOf(options), ...query } })).data;
  if (options.around !== undefined) {
    const half = Math.floor(limit / 2);
    const before = half === 0 ? null : await ask({ before: options.around, newest: true, limit: half });
    const { messages = [] } = before ?? {};
    const rest = await ask({ after: options.around - 1, limit: limit - messages.length });
    return { ...rest, messages: [...messages, ...rest.messages], prev_before: (before ?? rest).prev_before };
  }
  return ask({ ...(await spanQuery(session, options)), limit });
}

async function readAll(session: BoardSession, options: ReadOptions, show: Show): Promise<void> {
  const { client, board } = session;
  const all: Message[] = [];
  let last = Math.max(options.after ?? 0, options.follow ? await newestSeq(client, board) : 0);
  // Newest first is a view on one page; more of a board is read from its beginning.
  const after = options.after ?? (options.unread ? await readPosition(session) : 0);
  const query = { ...filtersOf(options), after, before: options.before, limit: 200 };
  let printed = NONE;
  for await (const { messages } of pages(client, 'listMessages', { params: { board }, query }, patiently(show.out))) {
    if (show.out.mode === 'ndjson') for (const message of messages) show.out.each(message);
    else all.push(...messages);
    if (show.out.mode === 'ndjson' && options['mark-read']) printed = printedTo(printed, messages, show.out);
    last = Math.max(last, messages.at(-1)?.seq ?? 0);
    if (all.length > MOST) throw tooMany(spanWords(options) + filterWords(options) + staying(session));
  }
  if (show.out.mode !== 'ndjson') {
    await printPage(session, { messages: all, next_after: null, prev_before: null }, options, show);
    printed = printedTo(NONE, all, show.out);
  }
  if (options['mark-read']) await markRead(session, printed, show.out);
  if (options.follow) await goOn(session, last, options, show);
}

async function printPage(session: BoardSession, page: Page, options: ReadOptions, { out, times }: Show): Promise<void> {
  const { client, board } = session;
  const { messages, next_after, prev_before } = page;
  const extra = out.mode === 'json' ? await boardFacts(client, board) : {};
  out.print({ ...extra, messages, next_after, prev_before }, () =>
    [
      messageList(board, messages, { paint: out.paint, times, agent: session.agent, markdown: options.markdown }),
      ...(messages.length === 0 ? [nothingThere(options, staying(session))] : []),
      ...nextCommands(page, options, staying(session)),
    ].join('\n'),
  );
}

async function boardFacts(client: Client, board: string) {
  const { data } = await client.call('getBoard', { params: { board } });
  return { visibility: data.visibility, read_up_to: data.read_up_to, unread: data.unread };
}

/** Up to which number everything was printed to its end, and whether that is all of it. */
interface Printed {
  last: number;
  whole: boolean;
}

const NONE: Printed = { last: 0, whole: true };

/** With what was printed next. */
function printedTo(before: Printed, messages: Message[], out: Output): Printed {
  if (!before.whole) return before;
  const all = out.shownOf('messages', messages);
  const first = messages.findIndex((message, n) => message !== all[n]);
  const shown = first < 0 ? all : all.slice(0, first);
  return { last: shown.at(-1)?.seq ?? before.last, whole: first < 0 };
}

async function markRead({ client, board }: BoardSession, { last, whole }: Printed, out: Output): Promise<void> {
  if (!whole) out.noteUnshown();
  if (last === 0) return;
  await flushed();
  const { data } = await client.call('ackBoard', { params: { board }, body: { up_to: last } });
  out.note(`Marked as read up to #${data.read_up_to}, ${data.unread} unread.`);
}

async function goOn(session: BoardSession, after: number, options: ReadOptions, { out, times }: Show): Promise<void> {
  const { client, board } = session;
  const style = { paint: out.paint, times, agent: session.agent, markdown: options.markdown };
  await follow({
    client,
    board,
    agent: session.agent,
    after,
    filters: filtersOf(options),
    out,
    show: (message) => out.each(message, () => messageText(message, style)),
  });
}

/** What to do where no message is shown. */
function nothingThere(options: ReadOptions, stay: string): string {
  if (options.follow) return 'Waiting for the first one.';
  const narrowed = filterWords(options) !== '';
  if (narrowed || options.after !== undefined || options.before !== undefined || options.unread)
    return called(`None fits. All: service read${stay}`);
  return called(`Post the first one: service say${stay} "Hello"`);
}

/** How to see what comes before and after, ready to paste. */
function nextCommands({ next_after: next, prev_before: before }: Page, options: ReadOptions, stay: string): string[] {
  if (options.follow) return [];
  const filters = filterWords(options) + flagWords(options, ['limit']) + stay;
  return [
    before !== null ? called(`Earlier: service read --before ${before}${filters}`) : '',
    next !== null
      ? called(`Later: service read ${options['mark-read'] ? '--mark-read' : `--after ${next}`}${filters}`)
      : '',
  ].filter(Boolean);
}

/** Where reading begins and ends, as it was typed. */
const spanWords = (options: ReadOptions): string =>
  options['mark-read'] ? ' --mark-read' : flagWords(options, ['unread', 'after', 'before']);

function tooMany(same: string): Failure {
  return new Failure('too_many_results', `There are more than ${MOST} messages.`, {
    hint: `service read --all --ndjson${same}`,
  });
}

interface Span {
  after?: number | undefined;
  before?: number | undefined;
  around?: number | undefined;
  unread?: boolean;
}

interface Page {
  messages: Message[];
  next_after: number | null;
  prev_before: number | null;
}

/** The query of one page: forward from a number, back from a number, from the first unread one, or the newest. */
async function spanQuery(
  session: BoardSession,
  span: Span,
): Promise<{ after?: number; before?: number; newest?: boolean }> {
  if (span.after !== undefined) return { after: span.after };
  if (span.before !== undefined) return { before: span.before, newest: true };
  if (span.unread) return { after: await readPosition(session) };
  return { newest: true };
}

async function readPosition({ client, board, agent }: BoardSession): Promise<number> {
  if (agent) return (await client.call('readInbox', { query: { limit: 1 } })).data.cursor;
  return (await client.call('getBoard', { params: { board } })).data.read_up_to ?? 0;
}
