import { BaseCommand, booleanFlag, choiceFlag, listFlags, stringFlag } from '../../cli/base.ts';
import { type ListOptions, listText, readList, type TooMany, wholeListFlags } from '../../cli/list.ts';
import { type BoardSession, type Session, staying } from '../../cli/session/open-session.ts';
import { answer, nextText, object } from '../../cli/shapes.ts';
import type { Answer } from '../../contract/types.ts';
import type { Show } from '../board/lib/read/read.ts';
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
    const session = this.flags['all-boards'] ? await this.session('A') : await this.onBoard('A');
    await listTasks(await withTasks(session), this.flags, { out: this.out, times: this.times });
  }
}

interface TaskListOptions extends ListOptions {
  state?: string | undefined;
  done?: boolean;
  mine?: boolean;
  owner?: string | undefined;
  blocked?: boolean;
  newest?: boolean;
}

/** @param session without a board: all of them. */
async function listTasks(session: Session | BoardSession, options: TaskListOptions, { out, times }: Show) {
  const board = 'board' in session ? session.board : null;
  const read = async (after: string | undefined, limit: number | undefined): Promise<Answer<'listAllTasks'>> => {
    const query = { ...queryOf(options), limit, after };
    return board
      ? (await session.client.call('listTasks', { params: { board }, query })).data
      : (await session.client.call('listAllTasks', { query })).data;
  };
  const found = await readList(out, options, 'tasks', read, tooMany);
  if (!found) return;
  const { rows: tasks, page } = found;
  const { counts, next_after } = page;
  const rows = await taskRows(tasks, times, board === null);
  out.print({ tasks, counts, next_after }, () =>
    listText(
      `${board ?? session.server.name} · ${tasks.length}`,
      rows,
      `${nextFor(options, session)}${staying(session)}`,
      next_after !== null && `Later: service task list${flagsOf(options, session)} --after ${next_after}`,
    ),
  );
}

/** What to do where there is no task. */
function nextFor(
  { state, done, mine, owner, blocked, after }: TaskListOptions,
  session: Session | BoardSession,
): string {
  const narrowed = (state !== undefined && state !== 'all') || done || mine || owner || blocked || after;
  if (!narrowed) return 'Open one: service task new "TITLE"';
  return `None fits. All: service task list --state all${'board' in session ? '' : ' --all-boards'}`;
}

const queryOf = ({ state, done, mine, owner, blocked, newest }: TaskListOptions) => ({
  state: done ? 'done' : state,
  owner: owner?.replace(/^@/, ''),
  ...(mine ? { mine: true } : {}),
  ...(blocked ? { blocked: true } : {}),
  ...(newest ? { order: 'desc' } : {}),
});

/** The flags that ask for the same list again. */
function flagsOf(options: TaskListOptions, session: Session | BoardSession): string {
  return [
    options.state ? ` --state ${options.state}` : '',
    options.done ? ' --done' : '',
    options.mine ? ' --mine' : '',
    options.owner ? ` --owner ${options.owner}` : '',
    options.blocked ? ' --blocked' : '',
    options.newest ? ' --newest' : '',
    'board' in session ? '' : ' --all-boards',
    options.limit === undefined ? '' : ` --limit ${options.limit}`,
    staying(session),
  ].join('');
}

const tooMany: TooMany = {
  message: (most) => `There are more than ${most} tasks.`,
  hint: 'service task list --all --ndjson',
};
