import { BaseCommand, booleanFlag, choiceFlag, listFlag, listFlags, required, stringFlag } from '../../cli/base.ts';
import { flagWords, readList, wholeListFlags } from '../../cli/list.ts';
import { called } from '../../cli/runtime.ts';
import { type Session, staying, stayingAt } from '../../cli/session/open-session.ts';
import { answer, nextText, object, text } from '../../cli/shapes.ts';
import { readable } from '../../cli/terminal/table.ts';
import { pastMoment, showTime } from '../../cli/terminal/time.ts';
import { escapeUntrusted, shellArgument } from '../../contract/text.ts';
import type { SearchResult } from '../../contract/types.ts';
import { searchKinds } from '../../contract/values.ts';
import { taskRef } from '../task/lib/tasks.ts';
import { headLines, type MessageStyle, messageText } from './lib/read/message-text.ts';

export const json = () => object({ query: text, results: answer('search').shape.results, next_after: nextText });

/** The most that the server gives at once. */
const PAGE = 50;

export default class BoardSearch extends BaseCommand<typeof BoardSearch> {
  static override readOnly = true;
  static override aliases = ['search'];
  static override summary = 'Find messages, tasks and files by their words';
  static override description =
    'Words are looked for together; -word leaves out, "a phrase" stands in quotes of its own, begin* is the beginning of a word.\nSeveral words are one argument. Upper and lower case and accents do not count.\nA script that pages with --after gives --since and --until as absolute times, the same for each page.';
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
    since: stringFlag('TIME', 'From this time on: 2d, 14:20 or 2026-03-02T09:00:00Z'),
    until: stringFlag('TIME', 'Before this time'),
    sort: choiceFlag(['newest', 'relevance'], 'What comes first (default newest)'),
    ...wholeListFlags(PAGE),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const { flags, out } = this;
    const { query: words } = this.args;
    const everywhere = flags['all-boards'];
    const session: Session & { board?: string } = everywhere ? await this.session('P') : await this.onBoard('A');
    const moment = (name: 'since' | 'until') =>
      flags[name] === undefined ? undefined : pastMoment(flags[name], `--${name}`);
    const [since, until] = [moment('since'), moment('until')];
    const query = {
      q: words,
      board: session.board,
      kind: flags.kind?.join(','),
      from: flags.from?.replace(/^@/, ''),
      task: flags.task === undefined ? undefined : taskRef(flags.task),
      since,
      until,
      sort: flags.sort,
    };
    const read = async (after: string | undefined, most: number | undefined) => {
      const limit = most && Math.min(most, PAGE);
      return (await session.client.call('search', { query: { ...query, limit, after } })).data;
    };
    // A position holds for the same moments only, and "2d" is another one each time.
    const narrowing = ['all-boards', 'kind', 'from', 'task', 'since', 'until', 'sort', 'limit'];
    const same = `service board search${flagWords({ ...flags, since, until }, narrowing)}`;
    const sought = `${staying(session)}${words.startsWith('-') ? ' --' : ''} ${shellArgument(words)}`;
    const found = await readList(out, flags, 'results', read, {
      message: (most) => `More than ${most} were found.`,
      hint: `${same} --all --ndjson${sought}`,
    });
    if (!found) return;
    const { rows: results, page } = found;
    const next = page.next_after;
    const style = { paint: out.paint, times: this.times, agent: session.agent };
    this.print<typeof json>({ query: words, results, next_after: next }, () =>
      [
        ...(results.length === 0 ? ['0 found', nothingFound(session, everywhere)] : foundText(results, style)),
        ...(next === null ? [] : [called(`More: ${same} --after ${next}${sought}`)]),
      ].join('\n'),
    );
  }
}

const nothingFound = (session: Session, everywhere: boolean): string =>
  session.agent || everywhere
    ? called('Fewer words find more, and "begin*" finds words that begin so: service search --help')
    : called(`Fewer words find more; on all your boards: service search WORDS --all-boards${stayingAt(session)}`);

/** By board, in the order in which each board comes first. */
function foundText(results: SearchResult[], style: MessageStyle): string[] {
  return [...Map.groupBy(results, ({ board }) => board)].flatMap(([board, own]) => [
    `${style.paint.bold(board)} · ${own.length} found`,
    ...own.map((result) => resultText(result, style)),
  ]);
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
