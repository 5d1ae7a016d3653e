import { BaseCommand, booleanFlag, choiceFlag, listFlags, stringFlag } from '../cli/base.ts';
import { flagWords, readList, type TooMany, wholeListFlags } from '../cli/list.ts';
import { staying } from '../cli/session/open-session.ts';
import { messages, nextText, object } from '../cli/shapes.ts';
import { requireFeature } from '../client/features.ts';
import { messageText } from './board/lib/read/message-text.ts';
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
    const { flags, out } = this;
    const session = await this.session('A');
    await requireFeature(session.client, 'asks');
    const query = {
      board: this.globals.board,
      state: flags.state,
      task: flags.task === undefined ? undefined : taskRef(flags.task),
      ...(flags['to-me'] ? { to_me: true } : {}),
      ...(flags['from-me'] ? { from_me: true } : {}),
      ...(flags['can-answer'] ? { can_answer: true } : {}),
    };
    const read = async (after: string | undefined, limit: number | undefined) =>
      (await session.client.call('listAsks', { query: { ...query, limit, after } })).data;
    const same = `${flagWords(flags, FLAGS)}${staying(session)}`;
    const found = await readList(out, flags, 'asks', read, tooMany(same));
    if (!found) return;
    const { rows: asks, page } = found;
    const next = page.next_after;
    const style = { paint: out.paint, times: this.times, agent: session.agent };
    await this.printList<typeof json>({ asks, next_after: next }, asks, {
      of: 'asks',
      rows: () =>
        [...Map.groupBy(asks, ({ board }) => board)].flatMap(([board, own]) => [
          out.paint.bold(board),
          ...own.map((ask) => messageText(ask, style)),
        ]),
      empty: `Ask somebody: service ask @NAME "QUESTION"${staying(session)}`,
      next: next !== null && `More: service asks${same} --after ${next}`,
    });
  }
}

/** Those that ask for the same list again. */
const FLAGS = ['to-me', 'from-me', 'can-answer', 'state', 'task', 'limit'];

const tooMany = (same: string): TooMany => ({
  message: (most) => `There are more than ${most} asks.`,
  hint: `service asks --all --ndjson${same}`,
});
