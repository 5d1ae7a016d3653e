/** Lists of tasks: of one board or of all, a page or every one. */
import type { Answer, Task } from '../contract/types.ts';
import { Failure } from '../local/failure.ts';
import type { BoardSession } from './base.ts';
import { taskRows } from './print/task.ts';
import type { Show } from './reading.ts';
import { called } from './runtime.ts';
import { type Session, staying } from './session.ts';

export interface TaskListWish {
  state?: string | undefined;
  done?: boolean;
  mine?: boolean;
  owner?: string | undefined;
  blocked?: boolean;
  newest?: boolean;
  limit?: number | undefined;
  after?: string | undefined;
  all?: boolean;
}

const MOST = 5000;

/** @param session without a board: all of them. */
export async function listTasks(session: Session | BoardSession, wish: TaskListWish, { out, times }: Show) {
  const board = 'board' in session ? session.board : null;
  const everything = wish.all || (out.mode === 'ndjson' && wish.limit === undefined);
  const tasks: Task[] = [];
  let page: Answer<'listAllTasks'>;
  let after = wish.after;
  do {
    const query = { ...queryOf(wish), limit: wish.limit ?? (everything ? 200 : undefined), after };
    page = board
      ? (await session.client.call('listTasks', { params: { board }, query })).data
      : (await session.client.call('listAllTasks', { query })).data;
    if (out.mode === 'ndjson') for (const task of page.tasks) out.each(task);
    else tasks.push(...page.tasks);
    if (tasks.length > MOST) throw tooMany();
    after = page.next_after ?? undefined;
  } while (everything && after !== undefined);
  if (out.mode === 'ndjson') return;
  const { counts, next_after } = page;
  const rows = await taskRows(tasks, times, board === null);
  out.print({ tasks, counts, next_after }, () =>
    [
      `${board ?? session.server.name} · ${tasks.length}`,
      ...rows,
      ...(next_after === null
        ? []
        : [called(`Later: service task list${flagsOf(wish, session)} --after ${next_after}`)]),
    ].join('\n'),
  );
}

const queryOf = ({ state, done, mine, owner, blocked, newest }: TaskListWish) => ({
  state: done ? 'done' : state,
  owner: owner?.replace(/^@/, ''),
  ...(mine ? { mine: true } : {}),
  ...(blocked ? { blocked: true } : {}),
  ...(newest ? { order: 'desc' } : {}),
});

/** The flags that ask for the same list again. */
function flagsOf(wish: TaskListWish, session: Session | BoardSession): string {
  return [
    wish.state ? ` --state ${wish.state}` : '',
    wish.done ? ' --done' : '',
    wish.mine ? ' --mine' : '',
    wish.owner ? ` --owner ${wish.owner}` : '',
    wish.blocked ? ' --blocked' : '',
    wish.newest ? ' --newest' : '',
    'board' in session ? '' : ' --all-boards',
    wish.limit === undefined ? '' : ` --limit ${wish.limit}`,
    staying(session),
  ].join('');
}

const tooMany = (): Failure =>
  new Failure('too_many_results', `There are more than ${MOST} tasks.`, { hint: 'service task list --all --ndjson' });
