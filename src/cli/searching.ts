/** Searching: one page or all of them, grouped by board, with what was found marked. */
import type { Answer, SearchResult } from '../contract/types.ts';
import { Failure } from '../local/failure.ts';
import type { BoardSession } from './base.ts';
import { messageText } from './print/message.ts';
import type { Show } from './reading.ts';
import { called } from './runtime.ts';
import { type Session, staying } from './session.ts';
import { pastMoment } from './time.ts';

export interface SearchWish {
  query: string;
  'all-boards'?: boolean;
  kind?: string | undefined;
  from?: string | undefined;
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
      `${results.length} found`,
      ...results.map((result) => resultText(result, { paint: out.paint, times })),
      ...(next === null ? [] : [called(nextCommand(wish, next, staying(session)))]),
    ].join('\n'),
  );
}

function queryOf(wish: SearchWish, board: string | undefined) {
  const { kind, sort, limit } = wish;
  return {
    q: wish.query,
    board,
    kind,
    from: wish.from?.replace(/^@/, ''),
    since: wish.since === undefined ? undefined : pastMoment(wish.since, '--since'),
    until: wish.until === undefined ? undefined : pastMoment(wish.until, '--until'),
    sort,
    limit,
  };
}

/** A message with its snippet for a body, the words found between stars. */
function resultText({ message, snippet, matches }: SearchResult, style: Parameters<typeof messageText>[1]): string {
  if (!message) return snippet;
  const marked = matches.toReversed().reduce((text, [from, to]) => mark(text, from, to), snippet);
  return messageText({ ...message, body: marked }, style).replace(/^/, `${message.board}  `);
}

const mark = (text: string, from: number, to: number): string =>
  `${text.slice(0, from)}*${text.slice(from, to)}*${text.slice(to)}`;

function nextCommand(wish: SearchWish, after: string, stay: string): string {
  const flags = [
    wish['all-boards'] ? ' --all-boards' : '',
    ...(['kind', 'from', 'since', 'until', 'sort', 'limit'] as const).map((name) =>
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
