/** The Tasks tab: tasks by state or owner, and the panel of the open task. */
import { effect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { serverNow } from '../state/clock.ts';
import { moveFocus, useKeys } from '../state/keys.ts';
import { openAsks } from '../state/needs.ts';
import type { Room } from '../state/room.ts';
import { type BoardPlace, navigate } from '../state/route.ts';
import { readStorage, writeStorage } from '../state/storage.ts';
import { waitingSentence } from './columns.ts';
import { FlowPlot } from './flow-plot.tsx';
import { ByAgent, ByState } from './groups.tsx';
import { NewTask } from './new-task.tsx';
import { TaskPanel } from './panel.tsx';
import { TaskBoard } from './task-board.ts';
import { TaskLog } from './task-log.ts';
import './tasks.css';

type Grouping = 'state' | 'agent';

export default function Tasks({ here, room }: { here: BoardPlace; room: Room }) {
  const board = useMemo(() => new TaskBoard(room), [room]);
  const log = useMemo(() => new TaskLog(room), [room]);
  useEffect(
    () => () => {
      board.close();
      log.close();
    },
    [board, log],
  );
  // Loads the log for the plot only after the tasks.
  useEffect(() => effect(() => void (board.tasks.value && log.read())), [board, log]);

  const [grouping, setGrouping] = useState<Grouping>(readStorage('tasks-by') === 'agent' ? 'agent' : 'state');
  const [creating, setCreating] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const focused = useRef<string | null>(null);
  const opened = useRef<string | null>(null);
  const writable = room.board.value?.lifecycle === 'active';
  const asks = (openAsks.value ?? []).filter((message) => message.board === room.name);
  const tasks = board.tasks.value;

  const group = (by: Grouping): void => {
    setGrouping(by);
    writeStorage('tasks-by', by === 'state' ? null : by);
  };
  const close = (): void => navigate({ screen: 'board', board: room.name, tab: 'tasks' });

  useKeys(
    'Tasks',
    [
      { keys: 'c', label: 'New task', run: () => writable && !creating && setCreating(true) },
      { keys: 'j', label: 'Next task', run: () => moveFocus(list.current, 'a.tc', 1) },
      { keys: 'k', label: 'Task before', run: () => moveFocus(list.current, 'a.tc', -1) },
      {
        keys: 'Escape',
        label: 'Close the task',
        run: () => (here.task && !document.querySelector('dialog[open]') ? close() : false),
      },
    ],
    [writable, creating, here.task, room],
  );

  // Restores the focus after a card moved to another column, which recreates its element, or after the panel closed.
  useLayoutEffect(() => {
    const lost = document.activeElement === document.body || document.activeElement === null;
    const ref = opened.current !== null && !here.task ? opened.current : focused.current;
    opened.current = here.task ?? null;
    if (lost && ref !== null) list.current?.querySelector<HTMLElement>(`[data-ref="${CSS.escape(ref)}"]`)?.focus();
  });

  return (
    <div class={here.task ? 'withp' : 'nop'}>
      <div
        class="page tq"
        ref={list}
        onFocusIn={({ target }) => {
          focused.current = (target as HTMLElement).dataset['ref'] ?? null;
        }}
        onFocusOut={({ relatedTarget }) => {
          if (relatedTarget) focused.current = null;
        }}
      >
        <h2 class="vh">Tasks</h2>
        <div class="row w tbar">
          <fieldset class="seg" aria-label="Group by">
            <button type="button" aria-pressed={grouping === 'state'} onClick={() => group('state')}>
              By state
            </button>
            <button type="button" aria-pressed={grouping === 'agent'} onClick={() => group('agent')}>
              By agent
            </button>
          </fieldset>
          <span class="q2 desk">{waitingSentence(asks, serverNow.value)}</span>
          <span class="sp" />
          {writable && (
            <button type="button" class="b pri" onClick={() => setCreating(true)}>
              <Icon name="plus" />
              New task <kbd class="desk ki">c</kbd>
            </button>
          )}
        </div>
        <ProblemLine error={board.error.value} onRetry={() => board.retry()} />
        {!tasks && board.error.value === null && <div aria-busy="true" />}
        {tasks?.size === 0 && (
          <p class="q2">
            No tasks yet. {writable && 'Open one, or ask an agent to: it takes it up and says where it stands.'}
          </p>
        )}
        {tasks &&
          tasks.size > 0 &&
          (grouping === 'state' ? (
            <ByState board={board} room={room} here={here} />
          ) : (
            <ByAgent board={board} room={room} here={here} />
          ))}
        {tasks && tasks.size > 0 && <FlowPlot room={room} board={board} log={log} />}
      </div>
      {here.task && (
        <TaskPanel key={here.task} selector={here.task} board={board} log={log} room={room} onClose={close} />
      )}
      {creating && (
        <NewTask
          room={room}
          onClose={() => setCreating(false)}
          onCreated={(task) => {
            board.setTask(task);
            setCreating(false);
            navigate({ screen: 'board', board: room.name, tab: 'tasks', task: task.ref });
          }}
        />
      )}
    </div>
  );
}
