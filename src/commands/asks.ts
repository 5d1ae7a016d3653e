import { BaseCommand, booleanFlag, choiceFlag, listFlags, stringFlag } from '../cli/base.ts';
import { type ListOptions, listText, readList, type TooMany, wholeListFlags } from '../cli/list.ts';
import { type Session, staying } from '../cli/session/open-session.ts';
import { messages, nextText, object } from '../cli/shapes.ts';
import { requireFeature } from '../client/features.ts';
import type { Message } from '../contract/types.ts';
import { messageText } from './board/lib/read/message-text.ts';
import type { Show } from './board/lib/read/read.ts';
import { taskRef } from './task/lib/tasks.ts';

export const json = () => object({ asks: messages, next_after: nextText });

export default class Asks extends BaseCommand<typeof Asks> {
  static override readOnly = true;
  static override summary = 'List asks and what became of them';
  static override description =
    'Open ones unless --state says otherwise; a person sees those of every board. Looking at them acknowledges nothing.';
  static override examples = [
    'service asks --can-answer',
    'service asks --from-me --state all --as codex',
    'service asks --task CHK-17 --board general',
  ];
  static override seeAlso = ['answer', 'ask', 'inbox'];
  static override flags = {
    'to-me': booleanFlag('Those addressed to you'),
    'from-me': booleanFlag('Your own'),
    'can-answer': booleanFlag('Those you may answer, your agents’ too'),
    state: choiceFlag(['open', 'answered', 'withdrawn', 'went_with', 'all'], 'Only these (default open)'),
    task: stringFlag('T', 'Those about this task', { char: 'T' }),
    ...wholeListFlags(),
    ...listFlags,
  };

  override async run(): Promise<void> {
    await listAsks(
      await this.session('A'),
      { ...this.flags, board: this.globals.board },
      {
        out: this.out,
        times: this.times,
      },
    );
  }
}

interface AskListOptions extends ListOptions {
  board: string | undefined;
  'to-me'?: boolean;
  'from-me'?: boolean;
  'can-answer'?: boolean;
  state?: string | undefined;
  task?: string | undefined;
}

async function listAsks(session: Session, options: AskListOptions, { out, times }: Show): Promise<void> {
  await requireFeature(session.client, 'asks');
  const read = async (after: string | undefined, limit: number | undefined) =>
    (await session.client.call('listAsks', { query: { ...queryOf(options), limit, after } })).data;
  const found = await readList(out, options, 'asks', read, tooMany);
  if (!found) return;
  const { rows: asks, page } = found;
  const next = page.next_after;
  const style = { paint: out.paint, times, agent: session.agent };
  out.print({ asks, next_after: next }, () =>
    listText(
      `asks · ${asks.length}`,
      byBoard(asks).flatMap(([board, own]) => [out.paint.bold(board), ...own.map((ask) => messageText(ask, style))]),
      `Ask somebody: service ask @NAME "QUESTION"${staying(session)}`,
      next !== null && `Later: service asks${flagsOf(options)}${staying(session)} --after ${next}`,
    ),
  );
}

const queryOf = (options: AskListOptions) => ({
  board: options.board,
  state: options.state,
  task: options.task === undefined ? undefined : taskRef(options.task),
  ...(options['to-me'] ? { to_me: true } : {}),
  ...(options['from-me'] ? { from_me: true } : {}),
  ...(options['can-answer'] ? { can_answer: true } : {}),
});

function byBoard(asks: Message[]): [string, Message[]][] {
  const boards = new Map<string, Message[]>();
  for (const ask of asks) boards.set(ask.board, [...(boards.get(ask.board) ?? []), ask]);
  return [...boards];
}

const flagsOf = (options: AskListOptions): string =>
  [
    options['to-me'] ? ' --to-me' : '',
    options['from-me'] ? ' --from-me' : '',
    options['can-answer'] ? ' --can-answer' : '',
    options.state ? ` --state ${options.state}` : '',
    options.task ? ` --task ${options.task}` : '',
    options.limit === undefined ? '' : ` --limit ${options.limit}`,
  ].join('');

const tooMany: TooMany = {
  message: (most) => `There are more than ${most} asks.`,
  hint: 'service asks --all --ndjson',
};
