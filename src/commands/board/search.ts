import { BaseCommand, booleanFlag, choiceFlag, listFlag, listFlags, required, stringFlag } from '../../cli/base.ts';
import { type ListOptions, readList, type TooMany, wholeListFlags } from '../../cli/list.ts';
import { called } from '../../cli/runtime.ts';
import { type BoardSession, type Session, staying } from '../../cli/session/open-session.ts';
import { answer, nextText, object, text } from '../../cli/shapes.ts';
import { readable } from '../../cli/terminal/table.ts';
import { pastMoment, showTime } from '../../cli/terminal/time.ts';
import { escapeUntrusted, shellArgument } from '../../contract/text.ts';
import type { SearchResult } from '../../contract/types.ts';
import { searchKinds } from '../../contract/values.ts';
import { taskRef } from '../task/lib/tasks.ts';
import { headLines, type MessageStyle, messageText } from './lib/read/message-text.ts';
import type { Show } from './lib/read/read.ts';

export const json = () => object({ query: text, results: answer('search').shape.results, next_after: nextText });

export default class BoardSearch extends BaseCommand<typeof BoardSearch> {
  static override readOnly = true;
  static override aliases = ['search'];
  static override summary = 'Find messages, tasks and files by their words';
  static override description =
    'Words are looked for together; -word leaves out, "a phrase" stands in quotes of its own, begin* is the beginning of a word.\nSeveral words are one argument. Upper and lower case and accents do not count.';
  static override examples = [
    'service board search "deploy failed -flaky"',
    'service search retry* --from codex --since 2d',
    'service search --all-boards invoice --sort relevance',
  ];
  static override seeAlso = ['board read', 'board thread'];
  static override args = { query: required('What to look for') };
  static override flags = {
    'all-boards': booleanFlag('Every board you are on', { exclusive: ['board'] }),
    kind: listFlag({ options: searchKinds, description: 'Only these, with commas between' }),
    from: stringFlag('NAME', 'Only messages of this member', { exclusive: ['all-boards'] }),
    task: stringFlag('T', 'Only what is about this task', { char: 'T', exclusive: ['all-boards'] }),
    since: stringFlag('TIME', 'From this time on: 2d, or 2026-03-02T09:00:00Z'),
    until: stringFlag('TIME', 'Before this time'),
    sort: choiceFlag(['newest', 'relevance'], 'What comes first (default newest)'),
    ...wholeListFlags(50),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const session = this.flags['all-boards'] ? await this.session('P') : await this.onBoard('A');
    const request: SearchOptions = { ...this.flags, query: this.args.query };
    await search(session, request, { out: this.out, times: this.times });
  }
}

interface SearchOptions extends ListOptions {
  query: string;
  'all-boards'?: boolean;
  kind?: string[] | undefined;
  from?: string | undefined;
  task?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  sort?: string | undefined;
}

async function search(session: Session | BoardSession, options: SearchOptions, { out, times }: Show): Promise<void> {
  const board = 'board' in session && !options['all-boards'] ? session.board : undefined;
  const query = queryOf(options, board);
  const read = async (after: string | undefined) =>
    (await session.client.call('search', { query: { ...query, after } })).data;
  const found = await readList(out, options, 'results', read, tooMany);
  if (!found) return;
  const { rows: results, page } = found;
  const next = page.next_after;
  out.print({ query: options.query, results, next_after: next }, () =>
    [
      ...(results.length === 0
        ? ['0 found', nothingFound(options, session.agent)]
        : foundText(results, { paint: out.paint, times, agent: session.agent })),
      ...(next === null ? [] : [called(nextCommand(options, next, staying(session)))]),
    ].join('\n'),
  );
}

const nothingFound = (options: SearchOptions, agent: boolean): string =>
  agent || options['all-boards']
    ? called('Fewer words find more, and "begin*" finds words that begin so: service search --help')
    : called('Fewer words find more; on all your boards: service search WORDS --all-boards');

function queryOf(options: SearchOptions, board: string | undefined) {
  const { kind, sort, limit } = options;
  return {
    q: options.query,
    board,
    kind: kind?.join(','),
    from: options.from?.replace(/^@/, ''),
    task: options.task === undefined ? undefined : taskRef(options.task),
    since: options.since === undefined ? undefined : pastMoment(options.since, '--since'),
    until: options.until === undefined ? undefined : pastMoment(options.until, '--until'),
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
  const [first = '', ...more] = headLines(`${name}  ${rest}`, showTime(at, style.times), style.paint);
  const head = first.replace(escapeUntrusted(name), (found) => style.paint.bold(found));
  return [head, ...more, ...readable(escapeUntrusted(marked), 4).map((line) => `    ${line}`)].join('\n');
}

const mark = (text: string, from: number, to: number): string =>
  `${text.slice(0, from)}*${text.slice(from, to)}*${text.slice(to)}`;

function nextCommand(options: SearchOptions, after: string, stay: string): string {
  const flags = [
    options['all-boards'] ? ' --all-boards' : '',
    ...(['kind', 'from', 'task', 'since', 'until', 'sort', 'limit'] as const).map((name) =>
      options[name] === undefined ? '' : ` --${name} ${options[name]}`,
    ),
  ].join('');
  const word = shellArgument(options.query, /^[\w*.-]+$/);
  return `Later: service board search ${word}${flags} --after ${after}${stay}`;
}

const tooMany: TooMany = {
  message: (most) => `More than ${most} were found.`,
  hint: 'Narrow the search, or use --all --ndjson',
};
