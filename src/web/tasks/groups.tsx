/** The tasks of a board grouped by state or by owner. */
import { useState } from 'preact/hooks';
import type { Actor, Member, Message, Task } from '../../contract/types.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { Glyph, Presence } from '../parts/who.tsx';
import { useAction } from '../state/action.ts';
import { openAsks } from '../state/needs.ts';
import type { Room } from '../state/room.ts';
import type { BoardPlace } from '../state/route.ts';
import { TaskCard } from './card.tsx';
import { byColumn, columnOf, columns, columnTitles, isClosed } from './columns.ts';
import { DONE_PAGE, INITIAL_DONE, type TaskBoard } from './task-board.ts';

interface GroupsProps {
  board: TaskBoard;
  room: Room;
  here: BoardPlace;
}

/** The open asks about a task. */
const asksAbout = (task: Task): Message[] => (openAsks.value ?? []).filter(({ ask }) => ask?.task?.id === task.id);

function Cards({
  tasks,
  board,
  room,
  here,
  showColumn = false,
}: GroupsProps & { tasks: Task[]; showColumn?: boolean }) {
  return (
    <ul>
      {tasks.map((task) => (
        <li key={task.id}>
          <TaskCard
            task={task}
            asks={asksAbout(task)}
            members={room.members.value}
            moved={board.moved.value.has(task.id)}
            open={here.task?.toUpperCase() === task.ref}
            showColumn={showColumn}
          />
        </li>
      ))}
    </ul>
  );
}

export function ByState(props: GroupsProps) {
  const { board } = props;
  const [shown, setShown] = useState(INITIAL_DONE);
  const older = useAction();
  const counts = board.counts.value;
  const found = byColumn(board.tasks.value?.values() ?? []);
  const ended = Math.max(found.done.length, counts ? counts.done + counts.cancelled : 0);
  const more = async (): Promise<void> => {
    if (older.busy) return;
    if (found.done.length < Math.min(ended, shown + DONE_PAGE)) await older.run(() => board.loadOlder());
    setShown(shown + DONE_PAGE);
  };
  return (
    <div class="cols">
      {columns.map((column) => {
        const tasks = column === 'done' ? found.done.slice(0, shown) : found[column];
        const count = column === 'done' ? ended : tasks.length;
        const id = `tasks-${column}`;
        return (
          <section class={count === 0 ? 'tcol none' : 'tcol'} aria-labelledby={id} key={column}>
            <h3 id={id}>
              {column === 'needs_you' && count > 0 && <span class="you">{count}</span>} {columnTitles[column]}{' '}
              {(column !== 'needs_you' || count === 0) && <span class="num">{count}</span>}
            </h3>
            <Cards {...props} tasks={tasks} />
            {column === 'done' && ended > tasks.length && (
              <button type="button" class="link older q2" aria-disabled={older.busy} onClick={() => void more()}>
                {ended - tasks.length} older
              </button>
            )}
            {column === 'done' && older.error !== null && <ProblemLine error={older.error} />}
          </section>
        );
      })}
    </div>
  );
}

interface Owner {
  who: Actor | null;
  member: Member | undefined;
  tasks: Task[];
}

/** Groups tasks by owner: agents first, also those without a task, then people, then tasks without an owner. */
function groupByOwner(tasks: Task[], members: Member[]): Owner[] {
  const owners = new Map<string, Owner>();
  for (const member of members)
    if (member.kind === 'agent' && member.status === 'active')
      owners.set(member.id, { who: member, member, tasks: [] });
  for (const task of tasks) {
    const id = task.owner?.id ?? '';
    const member = members.find((one) => one.id === id);
    const owner = owners.get(id) ?? { who: task.owner, member, tasks: [] };
    owner.tasks.push(task);
    owners.set(id, owner);
  }
  const rank = ({ who }: Owner): number => (who === null ? 2 : who.kind === 'human' ? 1 : 0);
  return [...owners.values()].sort((a, b) => rank(a) - rank(b) || b.tasks.length - a.tasks.length);
}

export function ByAgent(props: GroupsProps) {
  const { board, room } = props;
  const active = [...(board.tasks.value?.values() ?? [])].filter((task) => !isClosed(task));
  active.sort((a, b) => columns.indexOf(columnOf(a)) - columns.indexOf(columnOf(b)) || a.number - b.number);
  return (
    <div class="cols agents">
      {groupByOwner(active, room.members.value).map(({ who, member, tasks }) => {
        const id = `tasks-of-${who?.id ?? 'nobody'}`;
        return (
          <section class="tcol" aria-labelledby={id} key={id}>
            <h3 id={id} class="row">
              {who && <Glyph who={{ ...who, state: member?.state }} size={24} />}
              <span class={who?.kind === 'agent' ? 'mono cut' : 'cut'}>{who?.name ?? 'Nobody yet'}</span>
              {who?.kind === 'agent' && member?.state && <Presence state={member.state} />}
            </h3>
            {tasks.length === 0 ? <p class="q2 sm">no task</p> : <Cards {...props} tasks={tasks} showColumn />}
          </section>
        );
      })}
    </div>
  );
}
