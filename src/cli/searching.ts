/** Searching: one page or all of them, grouped by board, with what was found marked. */
import { escapeUntrusted } from '../contract/text.ts';
import type { Answer, SearchResult } from '../contract/types.ts';
import { Failure } from '../local/failure.ts';
import type { BoardSession } from './base.ts';
import { type MessageStyle, messageText } from './print/message.ts';
import type { Show } from './reading.ts';
import { called } from './runtime.ts';
import { type Session, staying } from './session.ts';
import { taskRef } from './tasks.ts';
import { pastMoment, showTime } from './time.ts';

export interface SearchWish {
  query: string;
  'all-boards'?: boolean;
  kind?: string[] | undefined;
  from?: string | undefined;
  task?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  sort?: string | undefined;
  limit?: number | undefined;
  after?: string | undefined;
  all?: boolean;
}

const MOST = 5000;

export async function search(session: Session | BoardSession, wish: SearchWish, { out, times }: Show): Promise<void> {
  const board = 'board' in session && !wish['all-boards'] ? session.board : undefined;
  const query = queryOf(wish, board);
  const everything = wish.all || (out.mode === 'ndjson' && wish.limit === undefined);
  const results: SearchResult[] = [];
  let page: Answer<'search'>;
  let after = wish.after;
  do {
    page = (await session.client.call('search', { query: { ...query, after } })).data;
    if (out.mode === 'ndjson') for (const result of page.results) out.each(result);
    else results.push(...page.results);
    if (results.length > MOST) throw tooMany();
    after = page.next_after ?? undefined;
  } while (everything && after !== undefined);
  if (out.mode === 'ndjson') return;
  const next = everything ? null : page.next_after;
  out.print({ query: wish.query, results, next_after: next }, () =>
    [
      ...(results.length === 0 ? ['0 found'] : foundText(results, { paint: out.paint, times })),
      ...(next === null ? [] : [called(nextCommand(wish, next, staying(session)))]),
    ].join('\n'),
  );
}

function queryOf(wish: SearchWish, board: string | undefined) {
  const { kind, sort, limit } = wish;
  return {
    q: wish.query,
    board,
    kind: kind?.join(','),
    from: wish.from?.replace(/^@/, ''),
    task: wish.task === undefined ? undefined : taskRef(wish.task),
    since: wish.since === undefined ? undefined : pastMoment(wish.since, '--since'),
    until: wish.until === undefined ? undefined : pastMoment(wish.until, '--until'),
    sort,
    limit,
  };
}

/** By board, in the order in which each board comes first. */
function foundText(results: SearchResult[], style: MessageStyle): string[] {
  const boards = [...new Set(results.map(({ board }) => board))];
  return boards.flatMap((board) => {
    const own = results.filter((result) => result.board === board);
    return [`${style.paint.bold(board)} · ${own.length} found`, ...own.map((result) => resultText(result, style))];
  });
}

/** A message with its snippet for a body, a task or file with its snippet below; the words found between stars. */
function resultText({ message, task, file, at, snippet, matches }: SearchResult, style: MessageStyle): string {
  const marked = matches.toReversed().reduce((text, [from, to]) => mark(text, from, to), snippet);
  if (message) return messageText({ ...message, body: marked }, style);
  const [name, rest] = task ? [task.ref, `${task.state}  ${task.title}`] : [file?.name ?? '', `v${file?.version}`];
  const when = style.paint.dim(showTime(at, style.times));
  return `${style.paint.bold(escapeUntrusted(name))}  ${escapeUntrusted(rest)}        ${when}\n    ${escapeUntrusted(marked)}`;
}

const mark = (text: string, from: number, to: number): string =>
  `${text.slice(0, from)}*${text.slice(from, to)}*${text.slice(to)}`;

function nextCommand(wish: SearchWish, after: string, stay: string): string {
  const flags = [
    wish['all-boards'] ? ' --all-boards' : '',
    ...(['kind', 'from', 'task', 'since', 'until', 'sort', 'limit'] as const).map((name) =>
      wish[name] === undefined ? '' : ` --${name} ${wish[name]}`,
    ),
  ].join('');
  const word = /^[\w*.-]+$/.test(wish.query) ? wish.query : `'${wish.query.replaceAll("'", `'\\''`)}'`;
  return `Later: service board search ${word}${flags} --after ${after}${stay}`;
}

const tooMany = (): Failure =>
  new Failure('too_many_results', `More than ${MOST} were found.`, {
    hint: 'Narrow the search, or use --all --ndjson',
  });
