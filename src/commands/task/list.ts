import { BaseCommand, booleanFlag, choiceFlag, listFlags, stringFlag } from '../../cli/base.ts';
import { flagWords, readList, type TooMany, wholeListFlags } from '../../cli/list.ts';
import { type Session, staying } from '../../cli/session/open-session.ts';
import { answer, nextText, object } from '../../cli/shapes.ts';
import type { Answer } from '../../contract/types.ts';
import { taskRows } from './lib/task-text.ts';
import { withTasks } from './lib/tasks.ts';

export const json = () => {
  const tasks = answer('listAllTasks').shape;
  return object({ tasks: tasks.tasks, counts: tasks.counts, next_after: nextText });
};

export default class TaskList extends BaseCommand<typeof TaskList> {
  static override boardFirst = true;
  static override readOnly = true;
  static override summary = 'List the tasks of a board';
  static override description =
    'Tasks that nobody has picked up come first, then those in progress, with whom they wait for. What is closed is left out\nunless it is asked for.';
  static override examples = [
    'service task list',
    'service task list --mine',
    'service task list --state all --newest --limit 20',
    'service task list --all-boards --blocked',
    "service task list --json | jq -r '.tasks[].ref'",
  ];
  static override seeAlso = ['task show', 'task new', 'task start'];
  static override flags = {
    state: choiceFlag(
      ['active', 'open', 'in_progress', 'done', 'cancelled', 'all'],
      'Only these (default active: open and in progress)',
    ),
    done: booleanFlag('Those that are done', { exclusive: ['state'] }),
    mine: booleanFlag('Those you own or help with'),
    owner: stringFlag('NAME', 'Those of this member'),
    blocked: booleanFlag('Those that wait for an answer'),
    newest: booleanFlag('The newest first'),
    'all-boards': booleanFlag('Every board you are on'),
    ...wholeListFlags(),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const { flags, out } = this;
    const opened = flags['all-boards'] ? await this.session('A') : await this.onBoard('A');
    const session: Session & { board?: string } = await withTasks(opened);
    const { client, board } = session;
    const query = {
      state: flags.done ? 'done' : flags.state,
      owner: flags.owner?.replace(/^@/, ''),
      ...(flags.mine ? { mine: true } : {}),
      ...(flags.blocked ? { blocked: true } : {}),
      ...(flags.newest ? { order: 'desc' } : {}),
    };
    const read = async (after: string | undefined, limit: number | undefined): Promise<Answer<'listAllTasks'>> => {
      const input = { query: { ...query, limit, after } };
      return board
        ? (await client.call('listTasks', { params: { board }, ...input })).data
        : (await client.call('listAllTasks', input)).data;
    };
    const narrowing = ['state', 'done', 'mine', 'owner', 'blocked', 'newest', 'all-boards', 'limit'];
    const same = `${flagWords(flags, narrowing)}${staying(session)}`;
    const found = await readList(out, flags, 'tasks', read, tooMany(same));
    if (!found) return;
    const { rows: tasks, page } = found;
    const { counts, next_after } = page;
    await this.printList<typeof json>({ tasks, counts, next_after }, tasks, {
      of: board ?? session.server.url,
      rows: () => taskRows(tasks, this.times, !board),
      empty: `${this.nextWhereNone}${staying(session)}`,
      next: next_after !== null && `More: service task list${same} --after ${next_after}`,
    });
  }

  /** What to do where there is no task. */
  private get nextWhereNone(): string {
    const { state, done, mine, owner, blocked, after, 'all-boards': everywhere } = this.flags;
    const narrowed = (state !== undefined && state !== 'all') || done || mine || owner || blocked || after;
    if (!narrowed) return 'Open one: service task new "TITLE"';
    return `None fits. All: service task list --state all${everywhere ? ' --all-boards' : ''}`;
  }
}

const tooMany = (same: string): TooMany => ({
  message: (most) => `There are more than ${most} tasks.`,
  hint: `service task list --all --ndjson${same}`,
});
